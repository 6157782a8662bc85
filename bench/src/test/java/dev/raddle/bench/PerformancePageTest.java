package dev.raddle.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
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
                        | what | measured | peer | ratio | goal |
                        |---|---|---|---|---|
                        | CPU of a task | 551.4 ns (534.2–560.6) | bare 275.7 | 2× | **missed:** ≤ 1.40× |
                        |  (lost: **12.3 %**, 3 repeats) |  | semaphore 1,103 | 0.50× |  |
                        | heap | 64 B |  |  | ≤ 64 |

                        a machine; lost: **12.3 %**.
                        <!-- group:end -->""");
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

    private static Stat stat(double lost, double... values) {
        BenchmarkResult none = new BenchmarkResult(null, List.of());
        return new Stat(List.of(new Fork(none, lost, lost > 0.1 ? 3 : 0)), Arrays.stream(values));
    }
}
