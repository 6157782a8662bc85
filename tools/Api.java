import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.AccessFlag;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares the exported API of each published module with {@code docs/api/ARTIFACT.txt}, or writes these files.
 *
 * <p>Use: {@code java Api.java check|write DIRECTORY ARTIFACT=CLASSES...}, where CLASSES is a jar or a directory of
 * classes. The API is what javap prints of the public and protected members of all classes in exported packages,
 * sorted, so that neither the order in a source file nor the compiler changes the files. Members that every record or
 * enum has are left out.
 */
public class Api {
    private static final ToolProvider JAVAP = ToolProvider.findFirst("javap").orElseThrow();
    private static final int SHOWN = 20;

    public static void main(String[] args) throws IOException {
        boolean write = args[0].equals("write");
        Path directory = Path.of(args[1]);
        boolean differs = false;
        for (String module : List.of(args).subList(2, args.length)) {
            String artifact = module.substring(0, module.indexOf('='));
            Path classes = Path.of(module.substring(module.indexOf('=') + 1));
            Path file = directory.resolve(artifact + ".txt");
            String api = api(classes);
            if (write) {
                Files.createDirectories(directory);
                Files.writeString(file, api);
                System.out.println("wrote " + file);
            } else {
                differs |= !matches(artifact, file, api);
            }
        }
        if (differs) {
            System.out.println("If the API was changed on purpose, \"./dev api write\" updates the files.");
            System.exit(1);
        }
    }

    private static boolean matches(String artifact, Path file, String api) throws IOException {
        if (Files.notExists(file)) {
            System.out.println(file + " does not exist");
            return false;
        }
        String expected = Files.readString(file);
        if (expected.equals(api)) {
            System.out.println("the API of " + artifact + " is that of " + file);
            return true;
        }
        System.out.println("the API of " + artifact + " is not that of " + file + ":");
        List<String> before = qualified(expected);
        List<String> now = qualified(api);
        Stream.concat(
                        before.stream().filter(line -> !now.contains(line)).map(line -> "  - " + line),
                        now.stream().filter(line -> !before.contains(line)).map(line -> "  + " + line))
                .limit(SHOWN)
                .forEach(System.out::println);
        return false;
    }

    /** Returns the lines of an API, each member with the name of its class. */
    private static List<String> qualified(String api) {
        List<String> found = new ArrayList<>();
        String type = "";
        for (String line : api.lines().toList()) {
            if (line.startsWith("  ") && !type.isEmpty()) {
                found.add(type + ": " + line.strip());
            } else {
                type = line.endsWith("{") ? line.substring(0, line.length() - 2) : "";
                found.add(line);
            }
        }
        return found;
    }

    private static String api(Path classes) throws IOException {
        if (Files.isDirectory(classes)) {
            return api(classes, classes);
        }
        try (FileSystem jar = FileSystems.newFileSystem(classes)) {
            return api(classes, jar.getPath("/"));
        }
    }

    private static String api(Path classPath, Path root) throws IOException {
        StringBuilder text = new StringBuilder();
        Path descriptor = root.resolve("module-info.class");
        Set<String> packages = null;
        if (Files.exists(descriptor)) {
            ModuleDescriptor module;
            try (InputStream in = Files.newInputStream(descriptor)) {
                module = ModuleDescriptor.read(in);
            }
            packages = module.exports().stream()
                    .filter(exported -> !exported.isQualified())
                    .map(exported -> exported.source().replace('.', '/'))
                    .collect(Collectors.toSet());
            append(text, module);
        } else {
            text.append("no module descriptor\n");
        }
        SortedMap<String, ClassModel> types = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                ClassModel type = ClassFile.of().parse(Files.readAllBytes(file));
                types.put(type.thisClass().asInternalName(), type);
            }
        }
        for (Map.Entry<String, ClassModel> type : types.entrySet()) {
            String name = type.getKey();
            String in = name.substring(0, Math.max(0, name.lastIndexOf('/')));
            if ((packages == null || packages.contains(in)) && isAccessible(name, types)) {
                append(text, classPath, name, type.getValue());
            }
        }
        return text.toString();
    }

    private static void append(StringBuilder text, ModuleDescriptor module) {
        text.append("module ").append(module.name()).append(" {\n");
        Set<String> lines = new TreeSet<>();
        module.requires().stream()
                .filter(required -> !required.modifiers().contains(ModuleDescriptor.Requires.Modifier.MANDATED))
                .map(required -> "requires "
                        + required.modifiers().stream()
                                .map(modifier -> modifier.name().toLowerCase(Locale.ROOT) + " ")
                                .sorted()
                                .collect(Collectors.joining())
                        + required.name())
                .forEach(lines::add);
        module.exports().forEach(exported -> lines.add("exports " + exported.source() + to(exported.targets())));
        module.opens().forEach(opened -> lines.add("opens " + opened.source() + to(opened.targets())));
        module.uses().forEach(used -> lines.add("uses " + used));
        module.provides().forEach(provided -> lines.add("provides " + provided.service()));
        lines.forEach(line -> text.append("  ").append(line).append('\n'));
        text.append("}\n");
    }

    private static String to(Set<String> targets) {
        return targets.isEmpty() ? "" : " to " + String.join(", ", new TreeSet<>(targets));
    }

    /** Returns whether a class, and every class around it, is public or protected. */
    private static boolean isAccessible(String name, Map<String, ClassModel> types) {
        ClassModel type = types.get(name);
        if (name.endsWith("/package-info") || type.flags().has(AccessFlag.MODULE)) {
            return false;
        }
        // The entry of a nested class has its flags as they are in the source, and no outer class if it is local.
        return type.findAttribute(Attributes.innerClasses()).stream()
                .flatMap(inner -> inner.classes().stream())
                .filter(inner -> inner.innerClass().asInternalName().equals(name))
                .findFirst()
                .map(inner -> (inner.has(AccessFlag.PUBLIC) || inner.has(AccessFlag.PROTECTED))
                        && inner.outerClass().isPresent()
                        && isAccessible(inner.outerClass().get().asInternalName(), types))
                .orElseGet(() -> type.flags().has(AccessFlag.PUBLIC));
    }

    private static void append(StringBuilder text, Path classPath, String name, ClassModel type) {
        StringWriter out = new StringWriter();
        PrintWriter to = new PrintWriter(out);
        int status = JAVAP.run(to, to, "-protected", "-constants", "-cp", classPath.toString(), name.replace('/', '.'));
        if (status != 0) {
            throw new IllegalStateException("javap failed for " + name + ": " + out);
        }
        List<String> lines = out.toString().lines().toList();
        text.append('\n');
        lines.stream()
                .filter(line -> line.endsWith("{"))
                .forEach(line -> text.append(line).append('\n'));
        // javap does not print them, but a switch without a default depends on them.
        type.findAttribute(Attributes.permittedSubclasses()).stream()
                .flatMap(permitted -> permitted.permittedSubclasses().stream())
                .map(permitted -> "  permits " + permitted.asInternalName().replace('/', '.'))
                .sorted()
                .forEach(line -> text.append(line).append('\n'));
        String implicit = implicitMembers(type);
        lines.stream()
                .filter(line -> line.startsWith("  ") && !line.matches(implicit))
                .sorted()
                .forEach(line -> text.append(line).append('\n'));
        text.append("}\n");
    }

    /**
     * Returns a pattern of the members that a record or an enum has without declaring them; the compiler's are final.
     */
    private static String implicitMembers(ClassModel type) {
        String superclass = type.superclass().map(each -> each.asInternalName()).orElse("");
        return switch (superclass) {
            case "java/lang/Record" ->
                "  public final \\S+ (equals\\(java.lang.Object\\)|hashCode\\(\\)|toString\\(\\));";
            case "java/lang/Enum" -> "  public static \\S+ (values\\(\\)|valueOf\\(java.lang.String\\));";
            default -> "";
        };
    }
}
