package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code raddle version} says of the machine. */
class VersionCommandTest {
    @TempDir
    private Path cgroup;

    @Test
    void the_limits_of_the_container_and_the_jvm_are_printed() throws Exception {
        Files.writeString(cgroup.resolve("cpu.max"), "150000 100000\n");

        assertThat(VersionCommand.report("raddle 7.8.9", System::getProperty, Map.of(), cgroup))
                .contains("raddle: 7.8.9", "cpu.max: 150000 100000", "memory.max: unknown", "environment: nothing set")
                .contains("java: " + Runtime.version(), "processors: ");
    }

    @Test
    void a_variable_is_named_without_its_value_and_others_are_left_out() {
        Map<String, String> environment = Map.of(
                "RADDLE_DB", "postgresql://ops:s3cret@db/shop", "AWS_SECRET", "k3y", "JDK_JAVA_OPTIONS", "-Dp=w0rd");

        assertThat(VersionCommand.report("raddle 1", System::getProperty, environment, cgroup))
                .contains("environment: JDK_JAVA_OPTIONS, RADDLE_DB set")
                .doesNotContain("s3cret", "AWS", "k3y", "w0rd");
    }

    @Test
    void no_path_is_printed() {
        assertThat(VersionCommand.report("raddle 1", System::getProperty, Map.of(), cgroup))
                .doesNotContain(System.getProperty("user.home"))
                .doesNotContain(System.getProperty("java.home"))
                .doesNotContain(cgroup.toString());
    }
}
