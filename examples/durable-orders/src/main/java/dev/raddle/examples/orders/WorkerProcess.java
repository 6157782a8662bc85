package dev.raddle.examples.orders;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A worker in a process of its own, which works until its standard input ends. What it prints is printed here, too. */
final class WorkerProcess implements AutoCloseable {

    private final String name;
    private final Process process;
    private final BufferedReader lines;

    private WorkerProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.lines = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts a worker.
     *
     * @param program the class whose {@code main} method is called, with the name, the step and the arguments
     * @param name the name of the worker
     * @param last the step after which it stops, or an empty text
     * @param arguments further arguments
     */
    static WorkerProcess start(Class<?> program, String name, String last, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--sun-misc-unsafe-memory-access=allow", // for the HTTP server of Restate's SDK
                "--enable-native-access=ALL-UNNAMED", // the same
                "-cp",
                System.getProperty("java.class.path"),
                program.getName(),
                name,
                last));
        command.addAll(List.of(arguments));
        return new WorkerProcess(
                name,
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start());
    }

    /** In the process of the worker: waits until its standard input ends. */
    static void awaitEndOfInput() throws IOException {
        while (System.in.read() >= 0) {
            // until the end
        }
    }

    /** Waits until the worker has printed a line that begins with its name and a text. */
    void awaitLine(String text) throws IOException {
        for (String line; (line = lines.readLine()) != null; ) {
            System.out.println(line);
            if (line.startsWith(name + " " + text)) {
                return;
            }
        }
        throw new IllegalStateException(name + " has ended without \"" + text + "\"");
    }

    /** Waits until the worker has done its last step, and kills it with SIGKILL before it can record that. */
    void killWhenItHas(String last) throws IOException, InterruptedException {
        awaitLine(last);
        process.toHandle().destroyForcibly(); // unlike that of the process, keeps what was printed
        printRest();
        process.waitFor();
        System.out.println("--- " + name + " is killed when it has " + last + " an order, before that is recorded");
    }

    /** Ends the input of the worker, and waits for its end. */
    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        printRest();
    }

    private void printRest() throws IOException {
        for (String line; (line = lines.readLine()) != null; ) {
            System.out.println(line);
        }
    }
}
