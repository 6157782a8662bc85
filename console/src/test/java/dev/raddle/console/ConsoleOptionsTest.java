package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConsoleOptionsTest {

    private static final ConsoleOptions OPTIONS = ConsoleOptions.defaults().withPort(0);

    @TempDir
    Path directory;

    @Test
    void options_are_immutable() {
        assertThat(OPTIONS.withClients(3).withControls(true)).isNotSameAs(OPTIONS);

        assertThat(OPTIONS.all.clients).isEqualTo(50);
        assertThat(OPTIONS.all.controls).isFalse();
    }

    @Test
    void wrong_values_are_refused_with_their_rule() {
        assertThatThrownBy(() -> OPTIONS.withPort(65_536)).hasMessage("port must be between 0 and 65535, was 65536");
        assertThatThrownBy(() -> OPTIONS.withClients(0)).hasMessage("clients must be at least 1, was 0");
    }

    @Test
    void a_short_token_is_refused_and_not_quoted() {
        assertThatThrownBy(() -> OPTIONS.withToken("hunter2"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 16 characters")
                .hasMessageNotContaining("hunter2");
        assertThatThrownBy(() -> OPTIONS.withToken("a token with spaces in it"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void the_token_of_a_file_has_no_line_end() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), "0123456789abcdef\n");

        assertThat(OPTIONS.withTokenFile(file).all.token).isEqualTo("0123456789abcdef");
        assertThatThrownBy(() -> OPTIONS.withTokenFile(directory.resolve("none")))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("none");
    }

    @Test
    void a_console_that_other_machines_can_reach_needs_a_token() {
        assertThatThrownBy(() -> Console.start(OPTIONS.withHost("0.0.0.0")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0.0.0.0")
                .hasMessageContaining("RADDLE_CONSOLE_TOKEN");
    }

    @Test
    void a_console_with_controls_needs_a_token() {
        assertThatThrownBy(() -> Console.start(OPTIONS.withControls(true)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("needs a token");
    }

    @Test
    void a_port_that_is_taken_is_named() {
        try (Console console = Console.start(OPTIONS)) {
            int port = console.uri().getPort();

            assertThatThrownBy(() -> Console.start(OPTIONS.withPort(port)))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("port " + port);
        }
    }
}
