package dev.raddle.cli.run;

import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.Secrets;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The outputs of one process of a run that has secrets. The process writes into pipes, and what is read from these
 * reaches its files without the secrets. In a run without secrets it writes into its files itself.
 */
final class MaskedOutputs implements AutoCloseable {
    private static final int BUFFER_BYTES = 8192;

    /** The maximum size of an original with the mark; a larger one cannot be passed on. */
    private static final int MAX_ORIGINAL = PlanFlow.MAX_VALUE_BYTES + Secrets.mark().length;

    /*
     * Overview.
     *
     * A pipe has a name until the process has been started, and is opened in place of the file, however the process is
     * started. It is also open for writing here, so no end of it is reached and no open waits.
     *
     * When the process has ended, its descendants may still hold the pipe and write. So the end of the process's output
     * is a mark, which is written here after the process has ended: what precedes it in the pipe has been written
     * before. Reading goes on after it, so that no descendant is blocked, until the last has closed the pipe.
     */
    private final Secrets secrets;
    private final List<Pipe> pipes = new ArrayList<>();

    MaskedOutputs(Secrets secrets) {
        this.secrets = secrets;
    }

    /** Returns what to open in place of a file. */
    Posix.Target through(Posix.Target file) throws IOException {
        return through(file, null);
    }

    /** Returns what to open in place of the file of a capture, which receives the original. */
    Posix.Target through(Capture capture) throws IOException {
        return through(new Posix.Target(capture.file(), false), capture);
    }

    private Posix.Target through(Posix.Target file, @Nullable Capture capture) throws IOException {
        if (secrets.isEmpty()) {
            return file;
        }
        Pipe pipe = new Pipe(file, capture);
        pipes.add(pipe);
        return new Posix.Target(pipe.name, true);
    }

    /** Removes the names of the pipes. Called when the process has opened them, or was not started. */
    void opened() throws IOException {
        for (Pipe pipe : pipes) {
            Files.deleteIfExists(pipe.name);
        }
    }

    /** Waits until everything that the process has written is in its files. Called after the end of the process. */
    void await() throws IOException {
        for (Pipe pipe : pipes) {
            pipe.end.write(Secrets.mark());
        }
        for (Pipe pipe : pipes) {
            try {
                pipe.stored.join();
            } catch (CompletionException e) {
                throw new IOException(Failure.text(e.getCause()), e);
            }
        }
    }

    @Override
    public void close() {
        pipes.forEach(Pipe::close);
    }

    /** Creates a pipe that only its user may open. */
    static void create(Path name, @Nullable Posix posix) throws IOException {
        if (posix != null) {
            posix.createPipe(name);
            return;
        }
        Process process = new ProcessBuilder("mkfifo", "-m", "600", name.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (process.onExit().join().exitValue() != 0) {
            throw new IOException("mkfifo cannot create the pipe " + name);
        }
    }

    /** A pipe to a file, and the thread that reads it. */
    private final class Pipe {
        private final Path name = Path.of(System.getProperty("java.io.tmpdir", "/tmp"), "raddle-" + UUID.randomUUID());
        private final CompletableFuture<Void> stored = new CompletableFuture<>(); // up to the mark
        private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
        private final ByteArrayOutputStream original = new ByteArrayOutputStream(); // for the capture
        private final Secrets.Filter filter = secrets.filter(shown);
        private final @Nullable Capture capture;
        private final OutputStream file;
        private final RandomAccessFile end;
        private @Nullable IOException failure;

        Pipe(Posix.Target target, @Nullable Capture capture) throws IOException {
            this.capture = capture;
            SeekableByteChannel channel = OutputFiles.open(target.path(), target.append());
            if (!target.append()) {
                channel.truncate(0);
            }
            file = Channels.newOutputStream(channel);
            create(name, Posix.get());
            try {
                end = new RandomAccessFile(name.toFile(), "rw");
                InputStream printed = new FileInputStream(name.toFile());
                Thread.ofPlatform().name("raddle-output").daemon().start(() -> read(printed));
            } catch (IOException | OutOfMemoryError e) {
                Files.deleteIfExists(name);
                throw e;
            }
        }

        private void read(InputStream printed) {
            try (printed;
                    file) {
                byte[] buffer = new byte[BUFFER_BYTES];
                for (int n = printed.read(buffer); n >= 0; n = printed.read(buffer)) {
                    int markEnd = filter.write(buffer, 0, n);
                    store();
                    keep(buffer, markEnd < 0 ? n : markEnd);
                    if (markEnd >= 0) {
                        complete();
                        filter.write(buffer, markEnd, n);
                        store();
                    }
                }
                filter.end();
                store();
            } catch (IOException | Error e) {
                stored.completeExceptionally(e);
                close(); // otherwise the process would wait until the pipe is read
            }
        }

        void close() {
            try {
                end.close();
            } catch (IOException e) {
                // nothing more is written into it
            }
        }

        /** Stores what may be seen. After a failure it is dropped, so that the process can write and end. */
        private void store() {
            try {
                if (failure == null) {
                    shown.writeTo(file);
                }
            } catch (IOException e) {
                failure = e;
            }
            shown.reset();
        }

        private void keep(byte[] bytes, int length) {
            if (capture != null && !stored.isDone() && original.size() <= MAX_ORIGINAL) {
                original.write(bytes, 0, length);
            }
        }

        private void complete() {
            if (capture != null) {
                int length = Math.max(0, original.size() - Secrets.mark().length);
                capture.setOriginal(filter.hasHidden() ? Arrays.copyOf(original.toByteArray(), length) : null);
                original.reset();
            }
            if (failure == null) {
                stored.complete(null);
            } else {
                stored.completeExceptionally(failure);
            }
        }
    }
}
