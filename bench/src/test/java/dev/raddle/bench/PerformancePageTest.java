package dev.raddle.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.BenchmarkResult;

class PerformancePageTest {

    @Test
    void a_table_says_once_what_its_rows_and_forks_have_in_common() {
        Row row = Row.of("CPU of a task", stat(0.004, 551.4, 534.2, 560.6), "ns");
        List<Row> rows = List.of(
                row.against("bare", stat(0.02, 275.7, 275.7, 275.7)).ratioAtMost(1.4),
                row.against("semaphore", stat(0.123, 1102.8)),
                Row.of("heap", stat(0, 64, 64), "B").atMost(64));

        assertThat(PerformancePage.table("group", rows, true, "a machine")).isEqualTo("""
                        <!-- group:begin -->
                        | what | measured | peer | ratio | goal | lost |
                        |---|---|---|---|---|---|
                        | CPU of a task | 551.4 ns (534.2–560.6) | bare 275.7 | 2× | **missed:** ≤ 1.40× | 2.0 % |
                        |  |  | semaphore 1,103 | 0.50× |  | **12.3 %**, 3 repeats |
                        | heap | 64 B |  |  | ≤ 64 | 0.0 % |

                        a machine.
                        <!-- group:end -->""");
    }

    @Test
    void the_picture_is_drawn_from_the_tables_of_the_page() throws IOException {
        Path docs = Path.of("..", "docs");

        String drawn =
                Comparisons.of(Files.readString(docs.resolve("performance.md"))).svg();

        assertThat(docs.resolve("pictures/peers.svg"))
                .as("run ./dev plot peers")
                .content()
                .isEqualTo(drawn);
    }

    @Test
    void a_ratio_of_the_picture_is_below_one_where_raddle_is_better() {
        Comparisons found = Comparisons.of("""
                <!-- group:begin -->
                | what | measured | peer | ratio | goal | lost |
                |---|---|---|---|---|---|
                | CPU | 1,000 ns (900–1,100) | bare 500 (400–600) | 2× | ≤ 1.40× | 2.0 % |
                |  |  | bulkhead 4,000 | 0.25× |  | 2.0 % |
                |  |  | only to query each handle: 1 | 1,000× |  | 2.0 % |
                | fairness | 0.90 | semaphore, 10,000 tasks: 0.45 | 2× | ≥ 0.80 | 0.1 % |
                | the same, elsewhere | 0.90 | fair semaphore 0.30 | 3× |  | 0.1 % |
                <!-- fleet:begin -->
                | tasks | 1.50 M/s (1–2) | Redisson 3 | 0.50× |  | ? |
                """);

        assertThat(found.ratios())
                .containsExactly(
                        Map.entry("group ÷ virtual threads", List.of(2.0)),
                        Map.entry("group ÷ Resilience4j", List.of(0.25)),
                        Map.entry("group ÷ semaphores", List.of(0.5, 0.3 / 0.9)),
                        Map.entry("fleet ÷ Redisson", List.of(2.0)));
    }

    @Test
    void a_peer_that_the_picture_does_not_know_is_reported() {
        assertThatThrownBy(() -> Comparisons.of("| CPU | 1 ns | Nobody's pool 2 | 0.50× |  | ? |"))
                .hasMessageContaining("\"Nobody's pool\" must begin with the name of a peer");
    }

    @Test
    void a_row_whose_interval_contains_the_goal_cannot_tell() {
        Row row = Row.of("CPU of a task", stat(0, 110, 90, 100), "ns");

        assertThat(row.atMost(110).verdict()).isEqualTo(Row.Verdict.MET);
        assertThat(row.atMost(109).verdict()).isEqualTo(Row.Verdict.UNDECIDED);
        assertThat(row.atMost(89).verdict()).isEqualTo(Row.Verdict.MISSED);
        assertThat(row.atLeast(111).verdict()).isEqualTo(Row.Verdict.MISSED);
        Row ratio = row.against("bare", stat(0, 100, 200));
        assertThat(ratio.ratioAtMost(1.1).verdict()).isEqualTo(Row.Verdict.MET);
        assertThat(ratio.ratioAtMost(1).verdict()).isEqualTo(Row.Verdict.UNDECIDED);
        assertThat(ratio.ratioAtMost(0.44).verdict()).isEqualTo(Row.Verdict.MISSED);
        assertThat(ratio.ratioAtMost(1).line(true, null)).contains("| cannot tell: ≤ 1× |");
        assertThat(ratio.ratioAtMost(1).line(false, null)).contains("| ≤ 1× |");
    }

    @Test
    void more_forks_make_the_interval_of_the_median_narrower() {
        assertThat(interval(3)).containsExactly(1, 3);
        assertThat(interval(6)).containsExactly(1, 6);
        assertThat(interval(7)).containsExactly(2, 6);
        assertThat(interval(9)).containsExactly(2, 8);
        assertThat(interval(10)).containsExactly(3, 8);
    }

    private static double[] interval(int forks) {
        Stat stat = stat(0, IntStream.rangeClosed(1, forks).asDoubleStream().toArray());
        return new double[] {stat.low(), stat.high()};
    }

    @Test
    void the_tables_on_the_page_have_the_columns_that_the_report_writes() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("..", "docs", "performance.md"));

        for (String section : PerformancePage.SECTIONS) {
            int begin = lines.indexOf("<!-- " + section + ":begin -->");
            assertThat(lines.subList(begin + 1, begin + 3))
                    .containsExactlyElementsOf(Row.HEAD.lines().toList());
        }
    }

    @Test
    void each_row_of_numbers_on_a_first_page_quotes_a_row_of_the_tables() throws IOException {
        Path root = Path.of("..");
        List<List<String>> measured = Files.readAllLines(root.resolve("docs/performance.md")).stream()
                .map(PerformancePageTest::numbers)
                .toList();

        for (String page : List.of("README.md", "README.zh-CN.md", "docs/index.md")) {
            List<String> quotes = Files.readAllLines(root.resolve(page)).stream()
                    .filter(line -> line.matches("\\| .* \\| [\\d,.]+ \\S.* \\| .*\\d.* \\|"))
                    .toList();

            assertThat(quotes).as(page).hasSize(5).allMatch(quote -> {
                String values = quote.substring(quote.indexOf(" | ")); // without what was measured
                return measured.stream().anyMatch(row -> row.containsAll(numbers(values)));
            });
        }
    }

    private static List<String> numbers(String text) {
        return Pattern.compile("\\d[\\d,.]*")
                .matcher(text)
                .results()
                .map(MatchResult::group)
                .toList();
    }

    private static Stat stat(double lost, double... values) {
        BenchmarkResult none = new BenchmarkResult(null, List.of());
        return new Stat(List.of(new Fork(none, lost, lost > 0.1 ? 3 : 0)), Arrays.stream(values));
    }
}
