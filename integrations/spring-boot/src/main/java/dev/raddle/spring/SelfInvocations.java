package dev.raddle.spring;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessFlag;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * Finds calls of methods on {@code this} in the bytecode of a class and its superclasses. Such a call does not pass the
 * proxy of a bean. A call on another reference is not found, even if that is the same object.
 */
final class SelfInvocations {

    /** A call that was found. */
    record Found(String caller, String callee) {}

    private SelfInvocations() {}

    /** Returns the calls of methods of an object by itself. A class whose bytecode is unavailable has none. */
    static Set<Found> in(Class<?> type, List<Method> methods) {
        Set<String> callees = methods.stream()
                .map(method -> method.getName() + descriptorOf(method))
                .collect(Collectors.toSet());
        Set<Found> found = new LinkedHashSet<>();
        for (Class<?> next = type; next != null && next != Object.class; next = next.getSuperclass()) {
            collect(next, callees, found);
        }
        return found;
    }

    private static String descriptorOf(Method method) {
        return MethodType.methodType(method.getReturnType(), method.getParameterTypes())
                .toMethodDescriptorString();
    }

    private static void collect(Class<?> type, Set<String> callees, Set<Found> found) {
        ClassModel model;
        try (InputStream bytes = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
            if (bytes == null) {
                return;
            }
            model = ClassFile.of().parse(bytes.readAllBytes());
            for (MethodModel method : model.methods()) {
                String caller = type.getSimpleName() + "."
                        + sourceName(method.methodName().stringValue());
                if (!method.flags().has(AccessFlag.BRIDGE) && !method.flags().has(AccessFlag.STATIC)) {
                    method.code()
                            .ifPresent(code ->
                                    new ThisCalls(callees, name -> found.add(new Found(caller, name))).read(code));
                }
            }
        } catch (IOException | UncheckedIOException | IllegalArgumentException unreadable) {
            LoggerFactory.getLogger(SelfInvocations.class)
                    .debug("no check of {} for calls of its own methods", type, unreadable);
        }
    }

    /** Returns the name of the method that contains a lambda. */
    private static String sourceName(String name) {
        String[] parts = name.split("\\$", -1);
        return parts.length > 2 && parts[0].equals("lambda") ? parts[1] : name;
    }
}
