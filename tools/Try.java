import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs tests for {@code ./dev try}. Use: {@code java Try.java CLASSES PATTERN...}, where a pattern is a simple class
 * name with {@code *} for any text, and perhaps {@code #} and the name of a method.
 */
public class Try {
    public static void main(String[] args) throws IOException {
        Path classes = Path.of(args[0]);
        Thread.currentThread()
                .setContextClassLoader(ClassLoader.getSystemClassLoader()); // not that of this source file
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
        int found = 0;
        for (String argument : List.of(args).subList(1, args.length)) {
            String[] parts = argument.split("#", 2);
            Pattern pattern = Pattern.compile(Pattern.quote(parts[0]).replace("*", "\\E.*\\Q"));
            for (String name : names(classes, pattern)) {
                if (parts.length == 1) {
                    request.selectors(selectClass(name));
                } else {
                    request.filters(new MethodNamed(name, parts[1])).selectors(selectClass(name));
                }
                found++;
            }
        }
        if (found == 0) {
            System.err.println(
                    "dev: no test class matches " + String.join(" ", args).substring(args[0].length() + 1));
            System.exit(2);
        }
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherDiscoveryRequest made = request.build();
        LauncherFactory.create().execute(made, summary, new Lines());
        summary.getSummary().printFailuresTo(new PrintWriter(System.out, true), 40);
        System.out.printf(
                "%d passed, %d failed, %d skipped%n",
                summary.getSummary().getTestsSucceededCount(),
                summary.getSummary().getTotalFailureCount(),
                summary.getSummary().getTestsSkippedCount());
        System.exit(summary.getSummary().getTotalFailureCount() == 0 ? 0 : 1);
    }

    private static List<String> names(Path classes, Pattern pattern) throws IOException {
        try (Stream<Path> files = Files.walk(classes)) {
            return files.map(file -> classes.relativize(file).toString())
                    .filter(file -> file.endsWith(".class") && !file.contains("$"))
                    .map(file ->
                            file.substring(0, file.length() - ".class".length()).replace('/', '.'))
                    .filter(name -> pattern.matcher(name.substring(name.lastIndexOf('.') + 1))
                            .matches())
                    .sorted()
                    .toList();
        }
    }

    /** Keeps the methods of one class whose names match. */
    private record MethodNamed(String type, String method) implements PostDiscoveryFilter {
        @Override
        public FilterResult apply(TestDescriptor test) {
            boolean isOther = test.getSource()
                    .filter(source -> source instanceof MethodSource)
                    .map(source -> (MethodSource) source)
                    .filter(source -> source.getClassName().equals(type))
                    .filter(source ->
                            !Pattern.matches(Pattern.quote(method).replace("*", "\\E.*\\Q"), source.getMethodName()))
                    .isPresent();
            return FilterResult.includedIf(!isOther);
        }
    }

    /** A line for each test as it ends. */
    private static final class Lines implements TestExecutionListener {
        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            switch (result.getStatus()) {
                case SUCCESSFUL -> {
                    if (test.isTest()) {
                        System.out.println("ok     " + test.getDisplayName());
                    }
                }
                case ABORTED -> System.out.println("skipped " + test.getDisplayName());
                case FAILED -> System.out.println("FAILED " + test.getDisplayName());
            }
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            System.out.println("skipped " + test.getDisplayName() + ": " + reason);
        }
    }
}
