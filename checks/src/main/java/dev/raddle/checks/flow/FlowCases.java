package dev.raddle.checks.flow;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs the cases of a file, and prints a line for each case that fails and, last, the numbers of passed and failed
 * cases.
 *
 * {@snippet lang = shell :
 * bash checks/flow-cases FILE.json --repeat 50 --executor fixed1
 * }
 *
 * <p>The exit code is 0 if all passed, 1 if any failed, 2 if the arguments are wrong or the file cannot be read.
 */
public final class FlowCases {

    private static final int MOST_COMPLAINTS = 4;

    private final Options options;
    private final PrintStream out;
    private final PrintStream err;
    private int passed;
    private int failed;

    private FlowCases(Options options, PrintStream out, PrintStream err) {
        this.options = options;
        this.out = out;
        this.err = err;
    }

    /**
     * Runs the cases of a file and exits the JVM.
     *
     * @param arguments the file and the options
     * @throws InterruptedException if the main thread is interrupted
     */
    public static void main(String... arguments) throws InterruptedException {
        int code = play(System.out, System.err, arguments);
        System.out.flush();
        System.exit(code);
    }

    /**
     * Runs the cases of a file.
     *
     * @param out the stream for failed cases and the totals
     * @param err the stream for usage errors and for stacks of threads that hung
     * @param arguments the file and the options
     * @return the exit code
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static int play(PrintStream out, PrintStream err, String... arguments) throws InterruptedException {
        Options options;
        List<CaseFile.Entry> entries;
        try {
            options = Options.parse(arguments);
            entries = CaseFile.read(options.file(), options.times());
        } catch (CaseFormatException broken) {
            err.println("flow-cases: " + broken.getMessage());
            return 2;
        } catch (IOException unreadable) {
            err.println("flow-cases: cannot read the file: " + unreadable);
            return 2;
        } catch (IllegalArgumentException wrong) {
            err.println("flow-cases: " + wrong.getMessage());
            err.println(Options.USAGE);
            return 2;
        }
        if (options.only() != null
                && entries.stream().noneMatch(entry -> entry.id().equals(options.only()))) {
            err.println("flow-cases: no case \"" + options.only() + "\" in " + options.file());
            return 2;
        }
        return new FlowCases(options, out, err).playAll(entries);
    }

    private int playAll(List<CaseFile.Entry> entries) throws InterruptedException {
        for (CaseFile.Entry entry : entries) {
            if (options.only() == null || options.only().equals(entry.id())) {
                play(entry);
            }
        }
        out.println(passed + " passed, " + failed + " failed");
        return failed == 0 ? 0 : 1;
    }

    private void play(CaseFile.Entry entry) throws InterruptedException {
        if (entry.flowCase() == null) {
            fail(entry, List.of("the case cannot be run: " + entry.problem()));
            return;
        }
        CasePlayer player = new CasePlayer(entry.flowCase(), options);
        List<String> complaints;
        try {
            complaints = player.play();
        } catch (RuntimeException | Error broken) {
            complaints = List.of("the case could not be run: " + broken);
            broken.printStackTrace(err);
        }
        if (complaints.isEmpty()) {
            passed++;
        } else {
            fail(entry, complaints);
            player.threads().forEach(err::println);
        }
    }

    private void fail(CaseFile.Entry entry, List<String> complaints) {
        failed++;
        List<String> shown = new ArrayList<>(complaints);
        if (complaints.size() > MOST_COMPLAINTS + 1) {
            shown = new ArrayList<>(complaints.subList(0, MOST_COMPLAINTS));
            shown.add((complaints.size() - MOST_COMPLAINTS - 1) + " more");
            shown.add(complaints.getLast());
        }
        out.println((entry.id() + " " + entry.title() + ": " + String.join("; ", shown)).replace('\n', ' '));
    }
}
