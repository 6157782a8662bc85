package dev.raddle.examples;

import static dev.raddle.flow.Dependency.allOf;
import static dev.raddle.flow.Dependency.order;

import dev.raddle.flow.FileJournal;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.RunOptions;
import dev.raddle.flow.ValueSource;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A build of two Java modules, as a flow: each is compiled and tested, a jar is built from both, and published if this
 * is a release. A journal records the nodes that have run for the current sources; these do not run again.
 */
public final class BuildExample {

    private static final String JAR = "app.jar";

    /**
     * The parameters of a build.
     *
     * @param sources a directory with a directory for each module, and in that {@code main} and {@code test}
     * @param out the directory for all output, including the journal; without it everything is built again
     * @param isRelease whether the jar is published
     */
    public record Build(Path sources, Path out, boolean isRelease) {

        String compile(String module) throws IOException {
            Path classes = out.resolve("classes").resolve(module);
            javac(sources.resolve(module, "main"), classes, "--module-path", out.resolve("classes"));
            return classes.toString();
        }

        /** Compiles a module's tests and calls the main method of one test class. */
        String test(String module, String name) throws Exception {
            Path tests = out.resolve("tests").resolve(module);
            Path words = out.resolve("classes", "words");
            Path app = out.resolve("classes", "app");
            javac(sources.resolve(module, "test"), tests, "--class-path", words + File.pathSeparator + app);
            URL[] path = {
                tests.toUri().toURL(), words.toUri().toURL(), app.toUri().toURL()
            };
            try (URLClassLoader loader = new URLClassLoader(path)) {
                loader.loadClass(name).getMethod("main").invoke(null);
            } catch (InvocationTargetException failed) {
                throw new IllegalStateException(name + " failed", failed.getCause());
            }
            return "passed";
        }

        private static void javac(Path from, Path to, String pathOption, Object path) throws IOException {
            JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
            StringWriter messages = new StringWriter();
            Files.createDirectories(to);
            try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
                List<String> options = List.of("-d", to.toString(), pathOption, path.toString());
                if (!compiler.getTask(
                                messages,
                                files,
                                null,
                                options,
                                null,
                                files.getJavaFileObjectsFromPaths(filesBelow(from, ".java")))
                        .call()) {
                    throw new IllegalStateException("javac failed: " + messages);
                }
            }
        }

        /** Writes the jar to a temporary file and then renames that, so that an existing jar is always complete. */
        String jar() throws IOException {
            Manifest manifest = new Manifest();
            manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
            manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "app.App");
            Path unfinished = out.resolve(JAR + ".part");
            try (OutputStream file = Files.newOutputStream(unfinished);
                    JarOutputStream jar = new JarOutputStream(file, manifest)) {
                for (String module : List.of("words", "app")) {
                    Path classes = out.resolve("classes").resolve(module);
                    for (Path each : filesBelow(classes, ".class")) {
                        String name = classes.relativize(each).toString().replace(File.separatorChar, '/');
                        if (!name.equals("module-info.class")) {
                            jar.putNextEntry(new JarEntry(name));
                            Files.copy(each, jar);
                        }
                    }
                }
            }
            return Files.move(unfinished, out.resolve(JAR), StandardCopyOption.REPLACE_EXISTING)
                    .toString();
        }

        String publish(String jar) throws IOException {
            Path published = Files.createDirectories(out.resolve("published"));
            return Files.copy(Path.of(jar), published.resolve(JAR), StandardCopyOption.REPLACE_EXISTING)
                    .toString();
        }

        /** Opens the journal for the current sources; other sources have another journal. */
        FileJournal journal() throws IOException {
            Files.createDirectories(out);
            return FileJournal.open(out.resolve(fingerprint() + ".journal"), FlowCodec.text());
        }

        private String fingerprint() throws IOException {
            MessageDigest digest;
            try {
                digest = MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException impossible) {
                throw new IllegalStateException("every JDK has SHA-256", impossible);
            }
            for (Path each : filesBelow(sources, ".java")) {
                digest.update(sources.relativize(each).toString().getBytes(StandardCharsets.UTF_8));
                digest.update(Files.readAllBytes(each));
            }
            return HexFormat.of().formatHex(digest.digest(), 0, 8);
        }

        private static List<Path> filesBelow(Path directory, String end) throws IOException {
            try (Stream<Path> files = Files.walk(directory)) {
                return files.filter(each -> each.toString().endsWith(end))
                        .sorted()
                        .toList();
            }
        }
    }

    private static final FlowPlan<Build, String> PLAN = plan();

    private BuildExample() {}

    private static FlowPlan<Build, String> plan() {
        FlowBuilder<Build> f = FlowPlan.define("build", Build.class);
        Node<String> words =
                f.node("compile words", c -> c.param().compile("words")).compute();
        Node<String> app = f.node(
                        "compile app", order(words), (c, none) -> c.param().compile("app"))
                .compute();
        Node<String> wordsTest = f.node(
                        "test words", order(words), (c, none) -> c.param().test("words", "words.WordsTest"))
                .compute();
        Node<String> appTest = f.node(
                        "test app", order(app), (c, none) -> c.param().test("app", "app.AppTest"))
                .compute();
        Node<String> jar = f.node(
                "package",
                allOf(List.of(wordsTest, appTest)),
                (c, tests) -> c.param().jar());
        f.node("publish", jar, (c, file) -> c.param().publish(file)).when(c -> ((Build) c.param()).isRelease());
        return f.returning(jar);
    }

    /**
     * Runs a build.
     *
     * @param build the parameters
     * @return the result of the run, with the path of the jar as its value
     * @throws IOException if there are no sources, or the journal cannot be opened
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static FlowResult<String> build(Build build) throws IOException, InterruptedException {
        try (FileJournal journal = build.journal();
                var run = PLAN.start(build, RunOptions.defaults().withJournal(journal, build.fingerprint()))) {
            return run.join();
        }
    }

    /** Returns the ids of the nodes that ran: neither skipped nor restored from the journal. */
    static List<String> done(FlowResult<?> result) {
        return result.nodes().stream()
                .filter(node -> node.via() == ValueSource.ACTION)
                .map(NodeReport::id)
                .toList();
    }

    /**
     * Builds the tiny project twice.
     *
     * @param args the directory of the sources, and the directory for all output
     * @throws IOException if there are no sources, or the journal cannot be opened
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length != 2) {
            throw new IllegalArgumentException("two directories are needed, was given " + args.length);
        }
        Build build = new Build(Path.of(args[0]), Path.of(args[1]), false);
        for (int time = 0; time < 2; time++) {
            FlowResult<String> result = build(build);
            System.out.println(result + ", done: " + done(result));
            System.out.println("package is " + result.explain("package"));
            System.out.println("publish is " + result.explain("publish"));
        }
    }
}
