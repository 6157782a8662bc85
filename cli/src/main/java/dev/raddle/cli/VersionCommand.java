package dev.raddle.cli;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** Prints what a bug report needs to say of the machine. It prints no path, and no value of an environment variable. */
@Command(
        name = "version",
        description = "Prints the version, the JVM and the limits of the machine, for bug reports.",
        footer = {"", "Example:", "  raddle version"})
final class VersionCommand extends Subcommand {
    /** System properties that change what Raddle does, and of which no value is a secret. */
    private static final String[] PROPERTIES = {
        "jdk.virtualThreadScheduler.parallelism", "jdk.virtualThreadScheduler.maxPoolSize"
    };

    @Override
    public Integer call() throws IOException {
        return print(spec, report(Version.name(), System::getProperty, System.getenv(), Path.of("/sys/fs/cgroup")));
    }

    static String report(
            String name, Function<String, @Nullable String> property, Map<String, String> environment, Path cgroup) {
        StringBuilder text = new StringBuilder();
        line(text, "raddle", name.substring(name.indexOf(' ') + 1));
        line(text, "java", Runtime.version() + ", " + property.apply("java.vendor"));
        line(text, "vm", property.apply("java.vm.name") + ", " + property.apply("java.vm.info"));
        line(text, "run-time", ModuleLayer.boot().modules().size() + " modules");
        line(
                text,
                "os",
                property.apply("os.name") + " " + property.apply("os.version") + ", " + property.apply("os.arch"));
        line(text, "processors", Runtime.getRuntime().availableProcessors());
        line(text, "heap", (Runtime.getRuntime().maxMemory() >> 20) + " MiB at most");
        for (String limit : new String[] {"cpu.max", "memory.max", "pids.max"}) {
            line(text, limit, limit(cgroup.resolve(limit)));
        }
        line(text, "encoding", Charset.defaultCharset() + ", names of files " + property.apply("sun.jnu.encoding"));
        line(
                text,
                "locale",
                Locale.getDefault().toLanguageTag() + ", "
                        + TimeZone.getDefault().getID());
        for (String each : PROPERTIES) {
            line(text, each, Objects.requireNonNullElse(property.apply(each), "not set"));
        }
        line(text, "environment", variables(environment));
        return text.toString();
    }

    private static void line(StringBuilder text, String name, Object value) {
        text.append(name).append(": ").append(value).append(System.lineSeparator());
    }

    /** Returns what a file of a control group says, if the process can see that. */
    private static String limit(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** Returns the names of the variables that change what the command does. */
    private static String variables(Map<String, String> environment) {
        TreeSet<String> names = new TreeSet<>(environment.keySet());
        names.removeIf(name -> !name.startsWith("RADDLE_")
                && !name.equals("JDK_JAVA_OPTIONS")
                && !name.equals("JAVA_TOOL_OPTIONS")
                && !name.equals("NO_COLOR"));
        return names.isEmpty() ? "nothing set" : String.join(", ", names) + " set";
    }
}
