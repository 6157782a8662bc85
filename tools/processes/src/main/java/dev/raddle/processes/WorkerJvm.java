package dev.raddle.processes;

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
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A program of the tests in a JVM of its own. It receives commands, one a line, on its standard input, and its lines on
 * the standard output that begin with {@value #PREFIX} are its answers; all other lines are printed with its name. A
 * test JVM that ends without closing it kills it.
 */
public final class WorkerJvm implements AutoCloseable {
    private static final String PREFIX = "raddle-worker ";

    private final String name;
    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Thread atExit;

    private WorkerJvm(String name, List<String> commandLine) {
        this.name = name;
        try {
            process = new ProcessBuilder(commandLine).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        atExit = new Thread(process::destroyForcibly, "end-of-" + name);
        Runtime.getRuntime().addShutdownHook(atExit);
        commands = process.outputWriter();
        Thread.ofVirtual().start(this::readAnswers);
    }

    /** Starts a program with this JVM's class path, without waiting until it is ready. */
    public static WorkerJvm start(String name, Class<?> program, List<String> arguments) {
        return start(name, program, arguments, List.of());
    }

    /**
     * Starts a program, without waiting until it is ready.
     *
     * @param patches directories before all others of the class path, to replace resources
     */
    public static WorkerJvm start(String name, Class<?> program, List<String> arguments, List<Path> patches) {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of("-Xmx96m", "-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        words.addAll(List.of("-ea", "--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
        words.add("-Dslf4j.internal.verbosity=ERROR");
        words.addAll(List.of("-cp", classPath(program, patches), program.getName()));
        words.addAll(arguments);
        return new WorkerJvm(name, words);
    }

    /** All of this JVM's class path and module path, and the tests, which are patched into their module. */
    private static String classPath(Class<?> program, List<Path> patches) {
        Set<String> entries = new LinkedHashSet<>();
        patches.forEach(patch -> entries.add(patch.toString()));
        entries.add(root(program));
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
                path = Objects.requireNonNull(path.getParent());
            }
            return path.toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Answers the test. Called in the process of the program. */
    public static void answer(String text) {
        System.out.println(PREFIX + text);
        System.out.flush();
    }

    public String name() {
        return name;
    }

    public long pid() {
        return process.pid();
    }

    private void readAnswers() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line; (line = lines.readLine()) != null; ) {
                if (line.startsWith(PREFIX)) {
                    answers.add(line.substring(PREFIX.length()));
                } else {
                    System.out.println(name + ": " + line);
                }
            }
        } catch (IOException e) {
            System.out.println(name + " ended: " + e.getMessage());
        }
    }

    /** Sends a command. */
    public void send(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " is gone", e);
        }
    }

    /** Waits until the worker is ready, which takes as long as the start of a JVM. */
    public WorkerJvm awaitReady() {
        await("ready");
        return this;
    }

    /** Waits for the next answer that begins with a word, and returns it. Others before it are dropped. */
    public String await(String word) {
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

    public void stop() {
        Signals.stop(process);
    }

    public void proceed() {
        Signals.proceed(process);
    }

    /** Kills the worker, with SIGKILL, and waits until it is gone. */
    public void kill() {
        Signals.kill(process);
        Runtime.getRuntime().removeShutdownHook(atExit);
    }

    /** Lets the worker end properly. */
    public void exit() {
        send("exit");
        await("closed");
        kill();
    }

    @Override
    public void close() {
        kill();
    }
}
