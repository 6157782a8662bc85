import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Prints a module's branch coverage as one line. Use: {@code java Coverage.java NAME JACOCO_CSV}. */
public class Coverage {
    public static void main(String[] args) throws IOException {
        Path csv = Path.of(args[1]);
        if (Files.notExists(csv)) {
            System.out.println("branch coverage of " + args[0] + ": unknown, no test has run");
            return;
        }
        List<String> lines = Files.readAllLines(csv);
        List<String> header = List.of(lines.getFirst().split(","));
        long missed = sum(lines, header.indexOf("BRANCH_MISSED"));
        long covered = sum(lines, header.indexOf("BRANCH_COVERED"));
        long all = missed + covered;
        System.out.printf(
                Locale.ROOT,
                "branch coverage of %s: %.1f %% (%d of %d branches)%n",
                args[0],
                all == 0 ? 100.0 : 100.0 * covered / all,
                covered,
                all);
    }

    private static long sum(List<String> lines, int column) {
        return lines.stream()
                .skip(1)
                .mapToLong(line -> Long.parseLong(line.split(",")[column]))
                .sum();
    }
}
