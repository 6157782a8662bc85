package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Starts the scripts before the JVM where a service or a container may start them. */
@Timeout(60)
class LauncherTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    private Path directory;

    private static Ended run(String script) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-euo", "pipefail", "-c", script);
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/local/bin:/usr/bin:/bin");
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.redirectError(ProcessBuilder.Redirect.PIPE).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), out, err);
    }

    @Test
    void without_HOME_a_JDK_is_found() throws Exception {
        Ended found = run(". '" + CHECKOUT + "/tools/find-jdk.sh'; find_jdk");

        assertThat(found.err()).isEmpty();
        assertThat(found.out()).isEqualTo(System.getProperty("java.home") + "\n");
    }

    @Test
    void a_current_directory_that_was_removed_is_named_as_the_reason() throws Exception {
        Ended ended = run("mkdir '" + directory + "/gone'; cd '" + directory + "/gone'; rmdir '" + directory
                + "/gone'; RADDLE_BUILD=never exec '" + CHECKOUT + "/raddle' check");

        assertThat(ended.exitCode()).isEqualTo(2);
        assertThat(ended.err())
                .endsWith("raddle: the current directory does not exist any more: change to another one\n");
    }
}
