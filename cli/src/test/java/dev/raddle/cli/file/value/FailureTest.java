package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class FailureTest {
    @Test
    void a_message_names_the_file_and_the_reason() {
        assertThat(Failure.text(new NoSuchFileException("a"))).isEqualTo("a: there is no such file or directory");
        assertThat(Failure.text(new AccessDeniedException("a"))).isEqualTo("a: permission denied");
        assertThat(Failure.text(new FileSystemException("a", null, "No space left on device")))
                .isEqualTo("a: No space left on device");
    }

    @Test
    void a_message_names_no_class() {
        IOException full = new IOException("disk full");
        assertThat(Failure.text(new UncheckedIOException(full))).isEqualTo("disk full");
        assertThat(Failure.text(new CompletionException(new IllegalStateException("x", full))))
                .isEqualTo("x");
        assertThat(Failure.text(new NullPointerException())).isEqualTo("null pointer exception");
        assertThat(Failure.text(new ClosedChannelException())).isEqualTo("closed channel exception");
        assertThat(Failure.text(new StackOverflowError())).isEqualTo("stack overflow error");
        assertThat(Failure.text(new RuntimeException(new NoSuchFileException("a"))))
                .isEqualTo("a: there is no such file or directory");
        assertThat(Failure.text(null)).isEqualTo("unknown");
    }
}
