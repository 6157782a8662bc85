package dev.raddle.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ChapterTest {

    @Test
    void the_benchmark_of_each_chapter_has_trials_and_belongs_to_a_section() {
        assertThat(Chapter.ALL).allSatisfy(chapter -> {
            assertThat(Trial.of(chapter.benchmark())).isNotEmpty();
            assertThat(PerformancePage.SECTIONS).contains(chapter.section());
        });
        assertThat(Chapter.ALL).extracting(Chapter::name).doesNotHaveDuplicates();
        assertThat(Chapter.ALL)
                .filteredOn(chapter -> chapter.isChosenBy("durable"))
                .extracting(Chapter::name)
                .containsExactly(
                        "durable-file", "durable-database", "durable-restate", "durable-load", "durable-stepper");
    }

    @Test
    void a_chapter_without_its_server_has_one_row_that_says_why() {
        Row row = Row.skipped("durable-restate", "there is no server");

        assertThat(row.line(true, null)).isEqualTo("| durable-restate: skipped, there is no server |  |  |  |  |  |");
        assertThat(row.verdict()).isEqualTo(Row.Verdict.MET);
    }
}
