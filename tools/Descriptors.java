import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires.Modifier;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;

/**
 * Compares what the descriptors of modules require with what {@code jdeps --check} finds in their classes.
 *
 * <p>Use: {@code java Descriptors.java MODULE-PATH JAR...}. A descriptor must require every module that its classes
 * use, transitively if the module occurs in its API, and no module that its classes do not use. What it requires as
 * {@code static} may be both.
 */
public class Descriptors {
    private static final ToolProvider JDEPS = ToolProvider.findFirst("jdeps").orElseThrow();
    private static final Pattern REQUIRES = Pattern.compile("\\s+requires (mandated )?(transitive )?([\\w.]+);");

    public static void main(String[] args) {
        List<String> failures = new ArrayList<>();
        for (String jar : Arrays.asList(args).subList(1, args.length)) {
            ModuleDescriptor module =
                    ModuleFinder.of(Path.of(jar)).findAll().iterator().next().descriptor();
            if (!module.isAutomatic()) {
                compare(module, suggested(args[0], module.name()), failures);
            }
        }
        failures.forEach(System.out::println);
        System.exit(failures.isEmpty() ? 0 : 1);
    }

    private static void compare(ModuleDescriptor module, Map<String, Boolean> suggested, List<String> failures) {
        Map<String, ModuleDescriptor.Requires> required = new TreeMap<>();
        module.requires().forEach(requires -> required.put(requires.name(), requires));
        suggested.forEach((name, inApi) -> {
            ModuleDescriptor.Requires requires = required.get(name);
            if (requires == null) {
                failures.add(module.name() + " uses " + name + " and does not require it");
            } else if (inApi && requires.modifiers().isEmpty()) {
                failures.add(module.name() + " has types of " + name + " in its API: \"requires transitive\"");
            }
        });
        required.values().stream()
                .filter(requires -> !requires.modifiers().contains(Modifier.STATIC))
                .filter(requires -> !suggested.containsKey(requires.name()))
                .map(requires -> module.name() + " requires " + requires.name() + " and does not use it")
                .forEach(failures::add);
    }

    /** Returns the modules that jdeps suggests to require, and whether transitively. */
    private static Map<String, Boolean> suggested(String modulePath, String module) {
        StringWriter out = new StringWriter();
        PrintWriter to = new PrintWriter(out);
        int release = Runtime.version().feature();
        int status = JDEPS.run(
                to,
                to,
                "--multi-release",
                Integer.toString(release),
                "--module-path",
                modulePath,
                "--add-modules",
                "ALL-MODULE-PATH",
                "--check",
                module);
        String text = out.toString();
        int begin = text.indexOf("[Suggested module descriptor");
        if (status != 0 || begin < 0) {
            throw new IllegalStateException("jdeps cannot check " + module + ": " + text);
        }
        Map<String, Boolean> found = new TreeMap<>();
        REQUIRES.matcher(text.substring(begin, text.indexOf("[Transitive reduced", begin)))
                .results()
                .forEach(line -> found.put(line.group(3), line.group(2) != null));
        return found;
    }
}
