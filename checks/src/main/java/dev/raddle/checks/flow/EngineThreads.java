package dev.raddle.checks.flow;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds the threads that are inside the engine at this moment, including virtual threads. */
final class EngineThreads {

    /** The prefix of the names of this tool's own threads. */
    static final String DRIVER_PREFIX = "flow-case ";

    private static final List<String> ENGINE_PACKAGES = List.of(
            "dev.raddle.flow.",
            "dev.raddle.kernel.",
            "dev.raddle.task.",
            "dev.raddle.scope.",
            "dev.raddle.checks.flow.Action");

    private EngineThreads() {}

    /** Returns the stack of every thread that is inside an action or the engine. */
    static List<String> inside() {
        List<String> inside = new ArrayList<>();
        for (String stack : dump().split("\n\\s*\n", -1)) {
            String thread = stack.strip();
            if (thread.startsWith("#")
                    && !thread.contains("\"" + DRIVER_PREFIX)
                    && !thread.contains(".checks.flow.EngineThreads")
                    && thread.lines().anyMatch(EngineThreads::isOfEngine)) {
                inside.add(thread);
            }
        }
        return inside;
    }

    /** Returns whether a line of a stack is inside the engine. A thread for decisions waits there for the next one. */
    private static boolean isOfEngine(String line) {
        return !line.contains("dev.raddle.kernel.DecisionThreads")
                && ENGINE_PACKAGES.stream().anyMatch(line::contains);
    }

    /** Returns whether the thread of a stack was running or ready to run. */
    static boolean isRunnable(String stack) {
        return stack.lines().findFirst().orElse("").matches(".*\\b(RUNNABLE|NEW|STARTED|UNPARKED|YIELDED)\\b.*");
    }

    private static String dump() {
        try {
            Path folder = Files.createTempDirectory("flow-cases");
            Path file = folder.resolve("threads.txt");
            try {
                ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                        .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
                return Files.readString(file);
            } finally {
                Files.deleteIfExists(file);
                Files.delete(folder);
            }
        } catch (IOException impossible) {
            return "#0 no thread dump in dev.raddle.flow.: " + impossible;
        }
    }
}
