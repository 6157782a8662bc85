package dev.raddle.bench.trace;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/** Adds a call of {@link MethodEntries#enter} to the beginning of every method of the traced classes. */
public final class TraceAgent implements ClassFileTransformer {

    /**
     * A traced method.
     *
     * @param owner the internal name of the declaring class
     * @param name the name
     * @param isRecursive whether it calls itself
     */
    record Method(String owner, String name, boolean isRecursive) {
        @Override
        public String toString() {
            return owner.substring(owner.lastIndexOf('/') + 1).replace('$', '.') + "." + name;
        }
    }

    private static final String RECORDER = "dev/raddle/bench/trace/MethodEntries.class";
    private static final ClassDesc RECORDER_CLASS = ClassDesc.of("dev.raddle.bench.trace.MethodEntries");
    private static final MethodTypeDesc ENTER = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);

    /**
     * Prefixes of the names of untraced classes of the JDK: the scheduler of virtual threads, and classes that it
     * uses.
     */
    private static final List<String> UNTRACED = List.of("ForkJoin", "ThreadLocalRandom", "TimeUnit");

    private static final List<Method> METHODS = new ArrayList<>(); // guarded by itself
    private static final Map<String, String> SUPERCLASSES = new HashMap<>(); // guarded by METHODS

    /** Resolves superclasses from class files: to load a class while another is loaded could load it twice. */
    private final ClassFile classFile = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
            ClassHierarchyResolver.ofResourceParsing(ClassLoader.getSystemClassLoader())
                    .cached()));

    private TraceAgent() {}

    /**
     * Traces the classes that are loaded already, and those that will be loaded. Called by the JVM.
     *
     * @param arguments ignored
     * @param instrumentation the instrumentation of this JVM
     * @throws IOException if no temporary file can be written
     * @throws UnmodifiableClassException never
     */
    public static void premain(String arguments, Instrumentation instrumentation)
            throws IOException, UnmodifiableClassException {
        instrumentation.appendToBootstrapClassLoaderSearch(
                new JarFile(recorderJar().toFile()));
        instrumentation.addTransformer(new TraceAgent(), true);
        List<Class<?>> loaded = new ArrayList<>();
        for (Class<?> each : instrumentation.getAllLoadedClasses()) {
            if (isTraced(each.getName().replace('.', '/')) && instrumentation.isModifiableClass(each)) {
                loaded.add(each);
            }
        }
        instrumentation.retransformClasses(loaded.toArray(Class<?>[]::new));
    }

    /** Writes a jar for the bootstrap class loader that contains only {@link MethodEntries}. */
    private static Path recorderJar() throws IOException {
        Path file = Files.createTempFile("raddle-trace", ".jar");
        file.toFile().deleteOnExit();
        try (OutputStream out = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(out);
                InputStream bytes = ClassLoader.getSystemResourceAsStream(RECORDER)) {
            jar.putNextEntry(new JarEntry(RECORDER));
            bytes.transferTo(jar);
        }
        return file;
    }

    /** Returns whether a class is traced. */
    private static boolean isTraced(String internalName) {
        String simpleName = internalName.substring(internalName.lastIndexOf('/') + 1);
        return switch (Library.of(internalName)) {
            case RADDLE -> !simpleName.endsWith("Lock");
            case JDK -> UNTRACED.stream().noneMatch(simpleName::startsWith);
            case OTHER -> false;
        };
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (name == null || !isTraced(name)) {
            return null;
        }
        try {
            ClassModel model = classFile.parse(bytes);
            synchronized (METHODS) {
                SUPERCLASSES.put(
                        name, model.superclass().map(ClassEntry::asInternalName).orElse(""));
            }
            return classFile.transformClass(model, (builder, element) -> {
                if (element instanceof MethodModel method && isTraced(method)) {
                    int number =
                            numberOf(new Method(name, method.methodName().stringValue(), isRecursive(name, method)));
                    builder.transformMethod(method, MethodTransform.transformingCode(new EntryCall(number)));
                } else {
                    builder.with(element);
                }
            });
        } catch (RuntimeException | Error failure) { // the JVM would ignore it
            failure.printStackTrace();
            System.exit(1);
            throw failure;
        }
    }

    private static boolean isTraced(MethodModel method) {
        return method.code().isPresent() && !method.methodName().equalsString(ConstantDescs.CLASS_INIT_NAME);
    }

    private static boolean isRecursive(String owner, MethodModel method) {
        return method.code()
                .orElseThrow()
                .elementStream()
                .anyMatch(element -> element instanceof InvokeInstruction call
                        && call.owner().asInternalName().equals(owner)
                        && call.name().equals(method.methodName())
                        && call.type().equals(method.methodType()));
    }

    private static int numberOf(Method method) {
        synchronized (METHODS) {
            METHODS.add(method);
            return METHODS.size() - 1;
        }
    }

    private record EntryCall(int method) implements CodeTransform {
        @Override
        public void atStart(CodeBuilder builder) {
            builder.loadConstant(method).invokestatic(RECORDER_CLASS, "enter", ENTER);
        }

        @Override
        public void accept(CodeBuilder builder, CodeElement element) {
            builder.with(element);
        }
    }

    /** Returns the method with a number that {@link MethodEntries} has recorded. */
    static Method method(int number) {
        synchronized (METHODS) {
            return METHODS.get(number);
        }
    }

    /** Returns whether one traced class is a superclass of another. */
    static boolean isSuperclass(String internalName, String of) {
        synchronized (METHODS) {
            String each = SUPERCLASSES.get(of);
            while (each != null && !each.equals(internalName)) {
                each = SUPERCLASSES.get(each);
            }
            return each != null;
        }
    }
}
