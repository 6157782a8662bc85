import java.io.IOException;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Gives the classes of jars the class file version of Java 8, and the stack maps that it demands, if theirs is older
 * than Java 6: a start-up cache cannot contain such classes. Nothing else changes. Use: {@code java NewerClasses.java
 * JAR...}.
 */
public class NewerClasses {
    private static final int JAVA_6 = 50;

    public static void main(String[] args) throws IOException {
        for (String arg : args) {
            Path jar = Path.of(arg);
            Path draft = Path.of(arg + ".new");
            if (rewrite(jar, draft)) {
                Files.move(draft, jar, StandardCopyOption.REPLACE_EXISTING);
            } else {
                Files.delete(draft);
            }
        }
    }

    private static boolean rewrite(Path jar, Path to) throws IOException {
        boolean changed = false;
        try (JarFile from = new JarFile(jar.toFile());
                URLClassLoader loader =
                        new URLClassLoader(new URL[] {jar.toUri().toURL()});
                OutputStream file = Files.newOutputStream(to);
                ZipOutputStream out = new ZipOutputStream(file)) {
            ClassFile classes = ClassFile.of(
                    ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                    ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofClassLoading(loader)));
            for (ZipEntry entry : from.stream().toList()) {
                byte[] bytes = from.getInputStream(entry).readAllBytes();
                if (entry.getName().endsWith(".class") && classes.parse(bytes).majorVersion() < JAVA_6) {
                    bytes = newer(classes, bytes);
                    changed = true;
                }
                ZipEntry copy = new ZipEntry(entry.getName());
                copy.setTimeLocal(LocalDateTime.of(2025, 1, 1, 0, 0));
                out.putNextEntry(copy);
                out.write(bytes);
                out.closeEntry();
            }
        }
        return changed;
    }

    private static byte[] newer(ClassFile classes, byte[] bytes) {
        ClassTransform version = (builder, element) -> {
            if (element instanceof ClassFileVersion) {
                builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
            } else {
                builder.with(element);
            }
        };
        return classes.transformClass(
                classes.parse(bytes),
                version.andThen(ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL)));
    }
}
