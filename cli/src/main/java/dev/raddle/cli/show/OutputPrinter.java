package dev.raddle.cli.show;

import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.run.ProcessStarter;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import java.io.BufferedOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Prints the output of each task as a whole when the task has ended: standard output to standard output, standard error
 * to standard error. Prints either in the order in which tasks end, or in the order in which they were queued.
 */
public final class OutputPrinter implements RunListener {
    private final Console out;
    private final Console err;
    private final Screen screen;
    private final Function<String, Printed> files;
    private final Consumer<String> onPrinted;
    private final boolean ordered;
    private final Queue<String> queued = new ArrayDeque<>(); // not printed yet, if ordered
    private final Set<String> ended = new HashSet<>(); // of these

    /**
     * The files of one task.
     *
     * @param keep whether the files are kept after they have been printed
     * @param tag the text before each line
     */
    public record Printed(Path out, Path err, boolean keep, String tag) {}

    /**
     * Creates a printer.
     *
     * @param screen the screen whose fixed lines are hidden while output is printed
     * @param files the function from the id of a task to its files
     * @param onPrinted the action to run with the id of every task whose output has been printed, including tasks that
     *     never ran
     * @param ordered whether to print in the order in which tasks were queued
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
        switch (event) {
            case RunEvent.TaskQueued task when ordered -> queued.add(task.id());
            case RunEvent.TaskEnded task
            when ordered -> {
                ended.add(task.result().id());
                while (ended.remove(queued.peek())) {
                    print(queued.remove());
                }
            }
            case RunEvent.TaskEnded task -> print(task.result().id());
            default -> {}
        }
    }

    private void print(String id) throws IOException {
        Printed printed = files.apply(id);
        try {
            screen.writeAside(() -> {
                byte[] tag = LocaleText.bytes(printed.tag, ProcessStarter.charset());
                copy(printed.out, out, tag);
                copy(printed.err, err, tag);
            });
        } finally {
            if (!printed.keep) {
                delete(printed.out);
                delete(printed.err);
            }
        }
        onPrinted.accept(id);
    }

    private static void delete(Path file) throws IOException {
        if (!file.toFile().delete()) {
            Files.deleteIfExists(file); // reports why, unless the file never existed
        }
    }

    private void copy(Path file, Console to, byte[] tag) throws IOException {
        if (file.toFile().length() == 0) { // or it does not exist
            return;
        }
        Lines stream = new Lines(new BufferedOutputStream(to.stream()), tag);
        try (InputStream input = new FileInputStream(file.toFile())) {
            input.transferTo(stream);
        }
        if (to.isTerminal()) {
            stream.end(); // otherwise the next line would be drawn after this one
        }
        stream.flush();
    }
}
