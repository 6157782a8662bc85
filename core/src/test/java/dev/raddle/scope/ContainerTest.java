package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.raddle.testing.Jvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The container of the threads of a scope, in separate JVMs. */
class ContainerTest {

    private static final Path JDK = Path.of(System.getProperty("java.home"));
    private static final String PROBE = ContainerProbe.class.getName();

    private static String run(Path program, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        return Jvm.run(command);
    }

    private static Path java(Path home) {
        return home.resolve("bin").resolve("java");
    }

    @Test
    void from_the_class_path_the_jdks_scope_is_used_without_a_flag() throws Exception {
        assertThat(Jvm.run(ContainerProbe.class)).startsWith("JDK scope; inherited; unnamed module");
    }

    @Test
    void from_the_module_path_the_jdks_scope_is_used_without_a_flag() throws Exception {
        String output = run(
                java(JDK),
                "--module-path",
                Jvm.classes().toString(),
                "--patch-module",
                "dev.raddle=" + Jvm.testClasses(),
                "--add-modules",
                "dev.raddle",
                "--module",
                "dev.raddle/" + PROBE);

        assertThat(output).startsWith("JDK scope; inherited; module dev.raddle");
    }

    @Test
    void in_an_image_of_its_own_the_jdks_scope_is_used(@TempDir Path directory) throws Exception {
        Path jlink = JDK.resolve("bin").resolve("jlink");
        assumeTrue(Files.isExecutable(jlink), "left out: this JDK has no jlink");
        assumeTrue(
                Files.isDirectory(JDK.resolve("jmods")) || run(jlink, "--help").contains("run-time image enabled"),
                "left out: this JDK has neither modules to link nor links itself");
        Path image = directory.resolve("image");
        run(
                jlink,
                "--module-path",
                Jvm.classes().toString(),
                "--add-modules",
                "dev.raddle",
                "--output",
                image.toString());
        String output = run(
                java(image), "--patch-module", "dev.raddle=" + Jvm.testClasses(), "--module", "dev.raddle/" + PROBE);

        assertThat(output).startsWith("JDK scope; inherited; module dev.raddle");
    }

    @Test
    void the_fallback_can_be_forced_and_states_the_reason() throws Exception {
        String output = Jvm.run(ContainerProbe.class, "-Ddev.raddle.scope.container=fallback");

        assertThat(output)
                .startsWith("fallback: forced by the system property dev.raddle.scope.container; not inherited;");
    }

    @Test
    void a_scope_describes_its_container() {
        try (var jdk = new StructuredTaskScope<>();
                var plain = new StructuredTaskScope<>(
                        StructuredScopeOptions.defaults().withPlainThreads())) {
            assertThat(jdk.toString()).endsWith("(JDK scope)");
            assertThat(plain.toString()).endsWith("(fallback: plain threads were asked for)");
        }
    }
}
