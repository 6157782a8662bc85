package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.Jvm;
import java.io.BufferedReader;
import java.io.File;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The first tasks of a JVM, and the flight recorder. */
@Timeout(120)
class FirstTaskTest {

    private static final String SETTINGS = """
            <?xml version="1.0" encoding="UTF-8"?>
            <configuration version="2.0">
              <event name="dev.raddle.Task"><setting name="enabled">true</setting></event>
              <event name="dev.raddle.PoolTask"><setting name="enabled">true</setting></event>
            </configuration>
            """;

    @Test
    void the_first_tasks_of_a_jvm_do_not_load_the_flight_recorder() throws Exception {
        String output = Jvm.run(FirstTasks.class, "-Xlog:class+load:stdout");
        assertThat(output.lines()).contains("done").anyMatch(line -> line.contains(" dev.raddle.group.GroupExecutor "));
        assertThat(output.lines().filter(line -> line.contains(" jdk.jfr.internal.")))
                .isEmpty();
        assertThat(output.lines().filter(line -> line.contains("dev.raddle.") && line.contains("Event ")))
                .as("classes of events")
                .isEmpty();
    }

    /**
     * The bounds are a little above what is loaded: it depends on whether a thread has to wait. Each class of ours
     * costs a fifth of a millisecond, a lambda two or three of these; so the first task of a JVM waits for what another
     * one may never need.
     */
    @ParameterizedTest
    @CsvSource({"group, 104, 85", "scope, 80, 190", "flow, 114, 190", "pool, 68, 70"})
    void the_first_task_of_an_api_loads_few_classes_and_no_lambda(String api, int ours, int ofTheJdk) throws Exception {
        List<String> loaded = loadedBy(api);
        loadedBy("bare").forEach(loaded::remove); // one of each name
        List<String> own =
                loaded.stream().filter(name -> name.startsWith("dev.raddle.")).toList();
        String all = "classes that a first task of a " + api + " loads beyond a virtual-thread executor's: "
                + String.join("\n", new TreeSet<>(loaded));

        assertThat(own).as(all).noneMatch(name -> name.contains("$$Lambda"));
        assertThat(own.size()).as(all).isBetween(ours / 2, ours);
        assertThat(loaded.size() - own.size()).as(all).isLessThanOrEqualTo(ofTheJdk);
    }

    /** Returns the names of the classes that a JVM with one task loads; all hidden classes of a class have one name. */
    private static List<String> loadedBy(String api) throws Exception {
        String output = Jvm.run(FirstTasks.class, List.of(api), "-Xlog:class+load:stdout:none");
        return output.lines()
                .filter(line -> line.contains(" source: "))
                .map(line -> line.replaceFirst("[ /].*", ""))
                .filter(name -> !name.startsWith(FirstTasks.class.getName()))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    @Test
    void a_recording_that_is_started_later_from_outside_has_the_tasks(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("later.jfr");
        Path bin = Path.of(System.getProperty("java.home"), "bin");
        ProcessBuilder builder = new ProcessBuilder(
                bin.resolve("java").toString(),
                "-cp",
                Jvm.classes() + File.pathSeparator + Jvm.testClasses(),
                FirstTasks.class.getName(),
                "waits");
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = process.inputReader();
                Writer input = process.outputWriter()) {
            assertThat(output.readLine()).isEqualTo("ready");
            String jcmd = bin.resolve("jcmd").toString();
            String pid = Long.toString(process.pid());
            Path settings = Files.writeString(directory.resolve("settings.jfc"), SETTINGS);
            Jvm.run(List.of(jcmd, pid, "JFR.start", "name=later", "settings=" + settings));
            input.append('\n').flush();
            assertThat(output.readLine()).isEqualTo("done");
            Jvm.run(List.of(jcmd, pid, "JFR.dump", "name=later", "filename=" + file));
            input.append('\n').flush();
            process.waitFor();
        } finally {
            process.destroyForcibly();
        }
        assertThat(RecordingFile.readAllEvents(file))
                .extracting(RecordedEvent::getEventType)
                .extracting(type -> type.getName())
                .contains("dev.raddle.Task", "dev.raddle.PoolTask");
    }
}
