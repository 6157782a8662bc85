package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Starts the {@code raddle} of this checkout as a process. */
final class Raddle {
    static final Path ROOT = root();
    private static final long PATIENCE_SECONDS = 180;
    static final List<String> WITH_SIGNALS = withSignals();
    private static final FutureTask<Void> FASTER_STARTS = new FutureTask<>(Raddle::prepareStarts, null);

    private final Path directory;
    private final Map<String, String> environment =
            new TreeMap<>(Map.of("LC_ALL", "C.UTF-8", "TERM", "dumb", "RADDLE_BUILD", "never"));
    private final List<String> prefix = new ArrayList<>(WITH_SIGNALS);

    /** Creates a command that is started in a directory. */
    Raddle(Path directory) throws IOException {
        this.directory = directory;
        assertThatItIsBuilt();
    }

    /** Checks that the command-line tool is packaged, because the launcher runs without building. */
    static void assertThatItIsBuilt() {
        assertThat(ROOT.resolve("cli/target/raddle-cli.jar"))
                .as("the launcher's tests need the packaged command-line tool: run mvn verify, not mvn test")
                .exists();
        FASTER_STARTS.run(); // the first time only
        try {
            FASTER_STARTS.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError("the launcher could not prepare its starts", e);
        }
    }

    /** Lets the launcher prepare faster starts, once for all tests, which start it some hundred times. */
    private static void prepareStarts() {
        ProcessBuilder builder = new ProcessBuilder(ROOT.resolve("raddle").toString());
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        builder.environment().put("RADDLE_BUILD", "cache");
        try {
            assertThat(builder.inheritIO().start().waitFor()).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while the launcher prepared its starts", e);
        }
    }

    private static Path root() {
        Path path = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
        while (!Files.exists(path.resolve("raddle")) || !Files.exists(path.resolve("pom.xml"))) {
            path = path.getParent();
        }
        return path;
    }

    /**
     * Returns a prefix that restores the default signals: a shell may run the tests with SIGINT ignored, which is
     * inherited.
     */
    private static List<String> withSignals() {
        List<String> env = List.of("env", "--default-signal=INT,TERM,HUP");
        try {
            List<String> probe = new ArrayList<>(env);
            probe.add("true");
            Process process =
                    new ProcessBuilder(probe).redirectErrorStream(true).start();
            return process.waitFor() == 0 ? env : List.of();
        } catch (IOException | InterruptedException e) {
            return List.of();
        }
    }

    Raddle environment(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** Starts the command with a signal ignored, as in the background of a script or by {@code nohup}. */
    Raddle ignoring(String signal) {
        prefix.clear();
        prefix.addAll(List.of("sh", "-c", "trap '' " + signal + "; exec \"$0\" \"$@\""));
        return this;
    }

    /** Starts the command in a shell, with words such as {@code <&-} after its arguments. */
    Raddle followedBy(String shellWords) {
        prefix.clear();
        prefix.addAll(List.of("sh", "-c", "exec \"$0\" \"$@\" " + shellWords));
        return this;
    }

    /** Starts the command with a filter as the reader of its output. The exit code is still that of the command. */
    Raddle through(String filter) {
        prefix.clear();
        prefix.addAll(List.of("bash", "-c", "\"$0\" \"$@\" | " + filter + "; exit ${PIPESTATUS[0]}"));
        return this;
    }

    /** Starts the command without waiting. */
    Run start(String... arguments) throws IOException {
        List<String> words = new ArrayList<>(prefix);
        words.add(ROOT.resolve("raddle").toString());
        words.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(words).directory(directory.toFile());
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        builder.environment().putAll(environment);
        return new Run(builder.start());
    }

    /** Starts the command with empty input, and waits for its end. */
    Ended run(String... arguments) throws IOException, InterruptedException {
        Run run = start(arguments);
        run.closeInput();
        return run.end();
    }

    /** Starts the command with a text as its input, and waits for its end. */
    Ended feed(String input, String... arguments) throws IOException, InterruptedException {
        Run run = start(arguments);
        try {
            run.type(input);
            run.closeInput();
        } catch (IOException e) {
            // it may end before it has read all input
        }
        return run.end();
    }

    /** The exit code and the output of a process. */
    record Ended(int exitCode, String out, String err) {
        List<String> lines() {
            return out.lines().toList();
        }
    }

    /** A running process. */
    static final class Run {
        private final Process process;
        private final BlockingQueue<String> unseen = new LinkedBlockingQueue<>();
        private final StringBuilder out = new StringBuilder(); // guarded by itself
        private final StringBuilder err = new StringBuilder(); // guarded by itself
        private final Thread outReader;
        private final Thread errReader;

        Run(Process process) {
            this.process = process;
            outReader = Thread.ofVirtual().start(() -> read(process.getInputStream(), out));
            errReader = Thread.ofVirtual().start(() -> read(process.getErrorStream(), err));
        }

        private void read(InputStream stream, StringBuilder text) {
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                StringBuilder line = new StringBuilder();
                for (int c = reader.read(); c >= 0; c = reader.read()) {
                    line.append((char) c);
                    synchronized (text) {
                        text.append((char) c);
                    }
                    if (c == '\n') {
                        unseen.add(line.toString());
                        line.setLength(0);
                    }
                }
            } catch (IOException e) {
                // a test has closed the stream
            }
        }

        Process process() {
            return process;
        }

        void type(String text) throws IOException {
            OutputStream input = process.getOutputStream();
            input.write(text.getBytes(StandardCharsets.UTF_8));
            input.flush();
        }

        void closeInput() throws IOException {
            process.getOutputStream().close();
        }

        /** Waits for a line on standard output or standard error, and skips others. */
        String awaitLine(Predicate<String> wanted) throws InterruptedException {
            while (true) {
                String line = unseen.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
                if (line == null) {
                    throw new AssertionError("no such line within " + PATIENCE_SECONDS + " s, only:\n" + both());
                }
                if (wanted.test(line)) {
                    return line;
                }
            }
        }

        String awaitLine(String part) throws InterruptedException {
            return awaitLine(line -> line.contains(part));
        }

        void signal(String name) throws IOException, InterruptedException {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
        }

        /** Kills the process without reading further: a process that it has just started may keep the output open. */
        void kill() throws InterruptedException {
            if (!process.destroyForcibly().waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("no end within " + PATIENCE_SECONDS + " s of its kill");
            }
        }

        Ended end() throws InterruptedException {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("no end within " + PATIENCE_SECONDS + " s:\n" + both());
            }
            outReader.join();
            errReader.join();
            return new Ended(process.exitValue(), text(out), text(err));
        }

        private String both() {
            return text(out) + text(err);
        }

        private static String text(StringBuilder text) {
            synchronized (text) {
                return text.toString();
            }
        }
    }

    /** Parses a JSON text to maps and lists. */
    static Map<?, ?> json(String text) {
        LoadSettings settings =
                LoadSettings.builder().setCodePointLimit(Integer.MAX_VALUE).build();
        return (Map<?, ?>) new Load(settings).loadFromString(text);
    }

    static Map<?, ?> report(Path directory) throws IOException {
        return json(Files.readString(directory.resolve("report.json")));
    }

    /** Returns the tasks of a report by id. */
    static Map<String, Map<?, ?>> tasks(Map<?, ?> report) {
        Map<String, Map<?, ?>> tasks = new TreeMap<>();
        for (Object task : (List<?>) report.get("tasks")) {
            tasks.put(String.valueOf(((Map<?, ?>) task).get("id")), (Map<?, ?>) task);
        }
        return tasks;
    }

    /** Returns whether a process is alive and not a zombie. */
    static boolean isAlive(long pid) {
        return ProcessHandle.of(pid)
                .filter(process -> process.info().commandLine().isPresent())
                .isPresent();
    }
}
