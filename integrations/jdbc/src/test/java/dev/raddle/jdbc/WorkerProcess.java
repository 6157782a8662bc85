package dev.raddle.jdbc;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link FlowWorker} in a process of its own. */
final class WorkerProcess implements AutoCloseable {
    private final String name;
    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Thread atExit;

    /**
     * Starts a worker.
     *
     * @param arguments its arguments, among them its name
     */
    WorkerProcess(Map<String, String> arguments) {
        name = arguments.get("name");
        try {
            process = new ProcessBuilder(commandLine(arguments))
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        atExit = new Thread(process::destroyForcibly, "end-of-worker");
        Runtime.getRuntime().addShutdownHook(atExit);
        commands = process.outputWriter();
        Thread.ofVirtual().start(this::readAnswers);
    }

    String name() {
        return name;
    }

    /** Waits until the worker is ready, which takes as long as the start of a JVM. */
    WorkerProcess awaitReady() {
        await("ready");
        return this;
    }

    private static List<String> commandLine(Map<String, String> arguments) {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of("-Xmx96m", "-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        words.addAll(List.of("-ea", "-Dslf4j.internal.verbosity=ERROR"));
        words.addAll(List.of("-cp", classPath(), FlowWorker.class.getName()));
        arguments.forEach((name, value) -> words.add(name + "=" + value));
        return words;
    }

    /** All of this JVM's class path and module path, and the tests, which are patched into their module. */
    private static String classPath() {
        Set<String> entries = new LinkedHashSet<>();
        entries.add(root(FlowWorker.class));
        entries.add(root(FlowService.class));
        for (String property : new String[] {"jdk.module.path", "java.class.path"}) {
            entries.addAll(List.of(System.getProperty(property, "").split(File.pathSeparator)));
        }
        entries.remove("");
        return String.join(File.pathSeparator, entries);
    }

    /** Returns the directory of the package tree that has a class. */
    private static String root(Class<?> type) {
        try {
            URL file = type.getResource(type.getSimpleName() + ".class");
            Path path = Path.of(Objects.requireNonNull(file).toURI());
            for (int i = 0; i < type.getName().split("\\.").length; i++) {
                path = path.getParent();
            }
            return path.toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private void readAnswers() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line; (line = lines.readLine()) != null; ) {
                if (line.startsWith(FlowWorker.PREFIX)) {
                    answers.add(line.substring(FlowWorker.PREFIX.length()));
                } else {
                    System.out.println(name + ": " + line);
                }
            }
        } catch (IOException e) {
            System.out.println(name + " ended: " + e.getMessage());
        }
    }

    /** Sends a command. */
    void send(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " is gone", e);
        }
    }

    /** Waits for the next answer that begins with a word, and returns it. Others before it are dropped. */
    String await(String word) {
        long end = System.nanoTime() + Await.BOUND.toNanos();
        try {
            while (true) {
                String answer = answers.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (answer == null) {
                    throw new AssertionError(name + " does not answer \"" + word + "\"");
                }
                if (answer.startsWith(word)) {
                    return answer;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    void stop() {
        Signals.stop(process);
    }

    void proceed() {
        Signals.proceed(process);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void kill() {
        Signals.kill(process);
        Runtime.getRuntime().removeShutdownHook(atExit);
    }

    /** Lets the worker close its service and end. */
    void exit() {
        send("exit");
        await("closed");
        kill();
    }

    @Override
    public void close() {
        kill();
    }
}
