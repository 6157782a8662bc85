package dev.raddle.examples;

import static dev.raddle.flow.Dependency.allOf;
import static dev.raddle.flow.Dependency.order;

import dev.raddle.flow.FileJournal;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.RunOptions;
import dev.raddle.flow.Via;
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
 * A build of two Java modules, as a flow: each is compiled and tested, a jar is made of both, and published if this is a
 * release. What has been done for the sources as they are is in a journal, and is not done again.
 */
public final class BuildExample {

    private static final String JAR = "app.jar";

    /**
     * What is built.
     *
     * @param sources a directory with a directory for each module, and in that {@code main} and {@code test}
     * @param out where everything goes, the journal too: who removes it begins anew
     * @param isRelease whether the jar is published
     */
    public record Build(Path sources, Path out, boolean isRelease) {

        String compile(String module) throws IOException {
            Path classes = out.resolve("classes").resolve(module);
            javac(sources.resolve(module, "main"), classes, "--module-path", out.resolve("classes"));
            return classes.toString();
        }

        /** Compiles a module's tests and calls the main method of one of their classes. */
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
                    throw new IllegalStateException("javac said " + messages);
                }
            }
        }

        /** Makes the jar beside its place and then moves it there, so that a jar that is there is whole. */
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
            Path shelf = Files.createDirectories(out.resolve("published"));
            return Files.copy(Path.of(jar), shelf.resolve(JAR), StandardCopyOption.REPLACE_EXISTING)
                    .toString();
        }

        /** A journal for the sources as they are: others have another. */
        FileJournal journal() throws IOException {
            Files.createDirectories(out);
            return FileJournal.open(out.resolve(fingerprint() + ".journal"), FileJournal.Codec.strings());
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
     * Builds.
     *
     * @param what from where to where
     * @return what became of the run, with the jar as its value
     * @throws IOException if there are no sources, or the journal cannot be opened
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static FlowResult<String> build(Build what) throws IOException, InterruptedException {
        try (FileJournal journal = what.journal();
                var run = PLAN.start(what, RunOptions.defaults().withJournal(journal, what.fingerprint()))) {
            return run.join();
        }
    }

    /** Returns which nodes have run: neither skipped nor known from an earlier run. */
    static List<String> done(FlowResult<?> result) {
        return result.nodes().stream()
                .filter(node -> node.via() == Via.ACTION)
                .map(NodeReport::id)
                .toList();
    }

    /**
     * Builds the tiny project twice.
     *
     * @param args the directory of the sources, and that for everything else
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
