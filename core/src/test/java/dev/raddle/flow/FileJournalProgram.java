package dev.raddle.flow;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A process that uses a journal and can be killed. */
final class FileJournalProgram {

    private static final int CHAINS = 3;
    private static final int LENGTH = 20;

    static final int NODES = CHAINS * LENGTH;
    static final String RESULT = "SUCCESS";

    private final Process process;

    private FileJournalProgram(Process process) {
        this.process = process;
    }

    /** Starts a process that runs a flow of several chains and prints its nodes, or one that only opens its journal. */
    static FileJournalProgram start(String what, Path journal) throws Exception {
        String classPath = locationOf(FileJournal.class)
                + System.getProperty("path.separator")
                + locationOf(FileJournalProgram.class);
        return new FileJournalProgram(new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath,
                        FileJournalProgram.class.getName(),
                        what,
                        journal.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    private static String locationOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    /** Waits for the end of the process and returns its output. */
    List<String> linesAtEnd() throws IOException {
        process.outputWriter().close();
        try (BufferedReader output = process.inputReader()) {
            return output.lines().toList();
        }
    }

    /** Waits for a number of lines, kills the process shortly after, and returns its output. */
    List<String> linesWhenKilledAfter(int count) throws Exception {
        List<String> lines = new ArrayList<>();
        process.outputWriter().append(".".repeat(count + 2)).flush();
        try (BufferedReader output = process.inputReader()) {
            for (int line = 0; line < count; line++) {
                lines.add(output.readLine());
            }
            process.toHandle().destroyForcibly(); // leaves the streams open
            output.lines().forEach(lines::add);
        }
        process.waitFor();
        return lines;
    }

    static List<String> ids() {
        List<String> ids = new ArrayList<>();
        for (int chain = 0; chain < CHAINS; chain++) {
            for (int step = 0; step < LENGTH; step++) {
                ids.add("chain-" + chain + "-" + step);
            }
        }
        return ids;
    }

    public static void main(String[] arguments) throws Exception {
        try (FileJournal journal = FileJournal.open(Path.of(arguments[1]), FlowCodec.text())) {
            if (arguments[0].equals("open")) {
                System.out.println("opened");
                return;
            }
            FlowBuilder<Void> f = FlowPlan.define("killed");
            for (String id : ids()) {
                Node<String> node = f.node(id, () -> {
                    System.in.read(); // wait for permission
                    System.out.println(id);
                    return id.toUpperCase(Locale.ROOT);
                });
                int last = id.lastIndexOf('-') + 1;
                int step = Integer.parseInt(id.substring(last));
                if (step > 0) {
                    node.needs(Dependency.order(id.substring(0, last) + (step - 1)));
                }
            }
            System.out.println(f.build()
                    .run(null, RunOptions.defaults().withJournal(journal))
                    .status());
        } catch (IOException failure) {
            System.out.println(failure.getMessage());
        }
    }
}
