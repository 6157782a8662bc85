package dev.raddle.spring;

import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.ArrayLoadInstruction;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.ConvertInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.classfile.instruction.StackInstruction;
import java.lang.classfile.instruction.StoreInstruction;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.classfile.instruction.ThrowInstruction;
import java.lang.classfile.instruction.TypeCheckInstruction;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/*
 * Overview.
 *
 * One pass over the instructions of one method, which knows of each slot of the operand stack only whether it is
 * `this`. That is enough to see on which reference a method is called, since the receiver is below its arguments:
 *
 *   aload_0                 [this]
 *   <arguments>             [this, -, -]
 *   invokevirtual render    receiver is `this`: found
 *
 * After a goto, a return or a throw, the stack is that of an earlier branch to the label that follows. A label that is
 * reached only by later branches or by an exception begins with an empty stack, and a slot below the bottom is not
 * `this`. So code that is unlike that of a Java compiler can hide a call, and does not fail.
 */

/** Finds in a method the calls of certain methods on {@code this}. For one method. */
final class ThisCalls {

    private final Set<String> callees; // names with descriptors
    private final Consumer<String> found;
    private final Map<Label, List<Boolean>> atLabels = new HashMap<>();
    private List<Boolean> stack = new ArrayList<>(); // whether each slot is `this`
    private boolean isReachable = true; // from the instruction before

    ThisCalls(Set<String> callees, Consumer<String> found) {
        this.callees = callees;
        this.found = found;
    }

    void read(CodeModel code) {
        code.forEach(this::read);
    }

    private void read(CodeElement element) {
        switch (element) {
            case LabelTarget target -> enter(target.label());
            case LoadInstruction load -> load(load);
            case StoreInstruction store -> pop(store.typeKind().slotSize());
            case ConstantInstruction constant -> push(constant.typeKind());
            case FieldInstruction field -> field(field);
            case InvokeInstruction invoke -> invoke(invoke);
            case InvokeDynamicInstruction dynamic -> invokeDynamic(dynamic);
            case OperatorInstruction operator -> operate(operator);
            case StackInstruction operation -> rearrange(operation.opcode());
            case ConvertInstruction convert -> replace(convert.fromType().slotSize(), convert.toType());
            case ArrayLoadInstruction load -> replace(2, load.typeKind());
            case ArrayStoreInstruction store -> pop(2 + store.typeKind().slotSize());
            case NewObjectInstruction _ -> push(TypeKind.REFERENCE);
            case NewMultiArrayInstruction array -> replace(array.dimensions(), TypeKind.REFERENCE);
            case TypeCheckInstruction check -> typeCheck(check);
            case BranchInstruction branch -> branch(branch);
            case LookupSwitchInstruction lookup -> {
                pop(1);
                lookup.cases().forEach(to -> leave(to.target()));
                leave(lookup.defaultTarget());
                isReachable = false;
            }
            case TableSwitchInstruction table -> {
                pop(1);
                table.cases().forEach(to -> leave(to.target()));
                leave(table.defaultTarget());
                isReachable = false;
            }
            case MonitorInstruction _ -> pop(1);
            case ReturnInstruction _, ThrowInstruction _ -> isReachable = false;
            default -> {} // changes no slot: a new array takes its length and returns the array
        }
    }

    // Control flow.

    private void enter(Label label) {
        List<Boolean> branched = atLabels.get(label);
        if (!isReachable) {
            stack = branched == null ? new ArrayList<>() : new ArrayList<>(branched);
        }
        isReachable = true;
    }

    private void leave(Label target) {
        atLabels.putIfAbsent(target, List.copyOf(stack));
    }

    private void branch(BranchInstruction branch) {
        boolean always = branch.opcode() == Opcode.GOTO || branch.opcode() == Opcode.GOTO_W;
        if (!always) {
            boolean comparesTwo = branch.opcode().name().startsWith("IF_");
            pop(comparesTwo ? 2 : 1);
        }
        leave(branch.target());
        isReachable = !always;
    }

    // Calls.

    private void invoke(InvokeInstruction invoke) {
        MethodTypeDesc type = invoke.typeSymbol();
        pop(slotsOf(type));
        if (invoke.opcode() != Opcode.INVOKESTATIC) {
            boolean onThis = pop(1);
            String name = invoke.name().stringValue();
            if (onThis && invoke.opcode() != Opcode.INVOKESPECIAL && isCallee(name, type.descriptorString())) {
                found.accept(name);
            }
        }
        push(TypeKind.from(type.returnType()));
    }

    /** A reference such as {@code this::render} takes the receiver as its first argument. */
    private void invokeDynamic(InvokeDynamicInstruction dynamic) {
        MethodTypeDesc type = dynamic.typeSymbol();
        int slots = slotsOf(type);
        boolean takesThis = slots > 0 && isThis(slots);
        pop(slots);
        dynamic.bootstrapArgs().forEach(argument -> {
            if (takesThis
                    && argument instanceof DirectMethodHandleDesc handle
                    && isCallee(handle.methodName(), handle.lookupDescriptor())) {
                found.accept(handle.methodName());
            }
        });
        push(TypeKind.from(type.returnType()));
    }

    private boolean isCallee(String name, String descriptor) {
        return callees.contains(name + descriptor);
    }

    private static int slotsOf(MethodTypeDesc type) {
        return type.parameterList().stream()
                .mapToInt(parameter -> TypeKind.from(parameter).slotSize())
                .sum();
    }

    // The operand stack.

    private void load(LoadInstruction load) {
        push(load.typeKind());
        if (load.typeKind() == TypeKind.REFERENCE && load.slot() == 0) {
            stack.set(stack.size() - 1, true);
        }
    }

    private void field(FieldInstruction field) {
        TypeKind kind = TypeKind.from(field.typeSymbol());
        switch (field.opcode()) {
            case GETSTATIC -> push(kind);
            case PUTSTATIC -> pop(kind.slotSize());
            case GETFIELD -> replace(1, kind);
            default -> pop(1 + kind.slotSize());
        }
    }

    private void operate(OperatorInstruction operator) {
        switch (operator.opcode()) {
            case INEG, LNEG, FNEG, DNEG -> {}
            case ARRAYLENGTH -> replace(1, TypeKind.INT);
            case ISHL, ISHR, IUSHR, LSHL, LSHR, LUSHR -> pop(1);
            case LCMP, DCMPL, DCMPG -> replace(4, TypeKind.INT);
            case FCMPL, FCMPG -> replace(2, TypeKind.INT);
            default -> pop(operator.typeKind().slotSize());
        }
    }

    private void typeCheck(TypeCheckInstruction check) {
        if (check.opcode() == Opcode.INSTANCEOF) {
            replace(1, TypeKind.INT);
        }
    }

    private void rearrange(Opcode operation) {
        switch (operation) {
            case POP -> pop(1);
            case POP2 -> pop(2);
            case DUP -> duplicate(1, 0);
            case DUP_X1 -> duplicate(1, 1);
            case DUP_X2 -> duplicate(1, 2);
            case DUP2 -> duplicate(2, 0);
            case DUP2_X1 -> duplicate(2, 1);
            case DUP2_X2 -> duplicate(2, 2);
            default -> { // SWAP
                boolean upper = pop(1);
                boolean lower = pop(1);
                stack.add(upper);
                stack.add(lower);
            }
        }
    }

    /** Inserts a copy of the uppermost slots below some further ones. */
    private void duplicate(int slots, int below) {
        while (stack.size() < slots + below) {
            stack.addFirst(false);
        }
        int size = stack.size();
        stack.addAll(size - slots - below, List.copyOf(stack.subList(size - slots, size)));
    }

    private void push(TypeKind kind) {
        for (int i = 0; i < kind.slotSize(); i++) {
            stack.add(false);
        }
    }

    private void replace(int slots, TypeKind kind) {
        pop(slots);
        push(kind);
    }

    /** Removes slots, and returns whether the lowest of them was {@code this}. */
    private boolean pop(int slots) {
        boolean wasThis = isThis(slots);
        for (int i = 0; i < slots && !stack.isEmpty(); i++) {
            stack.removeLast();
        }
        return wasThis;
    }

    private boolean isThis(int depth) {
        return depth > 0 && depth <= stack.size() && stack.get(stack.size() - depth);
    }
}
