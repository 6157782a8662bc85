package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.raddle.structured.StructuredTaskScope;
import java.io.File;
import java.net.URI;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the scopes of {@code dev.raddle.structured} beside the preview of JDK 25 in one process. Only that process and
 * the compilation of its program have the preview enabled.
 */
class StructuredBesideTheJdkTest {

    private static final Path PROGRAM = Path.of("src", "test", "resources", "structured", "BesideTheJdk.java");

    @TempDir
    private Path classes;

    @Test
    @Timeout(240)
    void the_scopes_of_JDK_25_and_ours_differ_only_as_the_guide_says() throws Exception {
        assumeTrue(Runtime.version().feature() == 25, "left out: the preview of this JDK is another");
        String core = Path.of(URI.create(StructuredTaskScope.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toString()))
                .toString();
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        System.out,
                        System.err,
                        "--enable-preview",
                        "--release",
                        "25",
                        "-nowarn",
                        "-proc:none",
                        "-d",
                        classes.toString(),
                        "-cp",
                        core,
                        PROGRAM.toString());
        assertThat(compiled).isZero();

        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-preview",
                        "-cp",
                        core + File.pathSeparator + classes,
                        "BesideTheJdk")
                .redirectErrorStream(true)
                .start();
        String output = new String(program.getInputStream().readAllBytes());

        assertThat(program.waitFor()).as(output).isZero();
        assertThat(output)
                .endsWith("scenarios, 0 differences" + System.lineSeparator())
                .doesNotContain("Raddle");
    }
}
