package dev.raddle.cli.show;

import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.TaskResult;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Prints the output of each task as a whole when the task has ended: standard output to standard output, standard error
 * to standard error. Prints either in the order in which tasks end, or in the order of their ids, which are then 1, 2,
 * 3, ….
 */
public final class OutputPrinter implements RunListener {
    private final Console out;
    private final Console err;
    private final Screen screen;
    private final Function<String, Printed> files;
    private final Consumer<String> onPrinted;
    private final boolean ordered;
    private final Map<Long, String> pending = new HashMap<>(); // ended before an earlier task
    private long next = 1;

    /**
     * The files of one task.
     *
     * @param keep whether the files are kept after they have been printed
     */
    public record Printed(Path out, Path err, boolean keep) {}

    /**
     * Creates a printer.
     *
     * @param screen the screen whose fixed lines are hidden while output is printed
     * @param files the function from the id of a task to its files
     * @param onPrinted the action to run with the id of every task whose files are no longer needed, including tasks
     *     that never ran
     * @param ordered whether to print in the order of ids
     */
    public OutputPrinter(
            Console out,
            Console err,
            Screen screen,
            Function<String, Printed> files,
            Consumer<String> onPrinted,
            boolean ordered) {
        this.out = out;
        this.err = err;
        this.screen = screen;
        this.files = files;
        this.onPrinted = onPrinted;
        this.ordered = ordered;
    }

    @Override
    public void on(RunEvent event) throws IOException {
        if (event instanceof RunEvent.TaskEnded ended) {
            TaskResult result = ended.result();
            if (!ordered) {
                print(result.id());
                return;
            }
            pending.put(Long.parseLong(result.id()), result.id());
            for (String id = pending.remove(next); id != null; id = pending.remove(next)) {
                next++;
                print(id);
            }
        }
    }

    private void print(String id) throws IOException {
        Printed printed = files.apply(id);
        try {
            screen.writeAside(() -> {
                copy(printed.out, out);
                copy(printed.err, err);
            });
        } finally {
            if (!printed.keep) {
                delete(printed.out);
                delete(printed.err);
            }
            onPrinted.accept(id);
        }
    }

    private static void delete(Path file) throws IOException {
        if (!file.toFile().delete()) {
            Files.deleteIfExists(file); // reports why, unless the file never existed
        }
    }

    private void copy(Path file, Console to) throws IOException {
        if (file.toFile().length() == 0) { // or it does not exist
            return;
        }
        LastByte stream = new LastByte(to.stream());
        try (InputStream input = new FileInputStream(file.toFile())) {
            input.transferTo(stream);
        }
        if (to.isTerminal() && stream.last != '\n') {
            stream.write('\n'); // otherwise the next line would be drawn after this one
        }
        stream.flush();
    }

    /** Remembers the last byte written. */
    private static final class LastByte extends OutputStream {
        private final OutputStream to;
        private int last = '\n';

        LastByte(OutputStream to) {
            this.to = to;
        }

        @Override
        public void write(int b) throws IOException {
            to.write(b);
            last = b;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            to.write(bytes, offset, length);
            if (length > 0) {
                last = bytes[offset + length - 1];
            }
        }

        @Override
        public void flush() throws IOException {
            to.flush();
        }
    }
}
