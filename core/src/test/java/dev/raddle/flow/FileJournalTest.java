package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FileJournal.Codec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileJournalTest {

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("run.journal");
    }

    private FileJournal open() throws IOException {
        return FileJournal.open(file, Codec.strings());
    }

    @Test
    void what_was_recorded_is_there_when_the_file_is_opened_again() throws IOException {
        try (FileJournal journal = open()) {
            journal.finished("a b", "value\nof two lines");
            journal.finished("nothing", null);
            journal.finished("empty", "");
            journal.finished("gone", "x");
            journal.undone("gone");
        }
        try (FileJournal journal = open()) {
            assertThat(journal.find("a b")).isEqualTo(new FlowJournal.Recorded("value\nof two lines"));
            assertThat(journal.find("nothing")).isEqualTo(new FlowJournal.Recorded(null));
            assertThat(journal.find("empty")).isEqualTo(new FlowJournal.Recorded(""));
            assertThat(journal.find("gone")).isNull();
        }
    }

    @Test
    void a_record_that_is_cut_off_anywhere_is_dropped_and_the_next_one_is_whole() throws IOException {
        long before;
        try (FileJournal journal = open()) {
            journal.finished("a", "A");
            before = Files.size(file);
            journal.finished("b", "B");
        }
        byte[] whole = Files.readAllBytes(file);
        for (int length = (int) before; length < whole.length; length++) {
            Files.write(file, java.util.Arrays.copyOf(whole, length));
            try (FileJournal journal = open()) {
                assertThat(journal.find("a")).isNotNull();
                assertThat(journal.find("b")).isNull();
                journal.finished("c", "C");
            }
            try (FileJournal journal = open()) {
                assertThat(journal.find("c")).isEqualTo(new FlowJournal.Recorded("C"));
            }
        }
    }

    @Test
    void a_header_that_is_cut_off_is_written_again() throws IOException {
        Files.writeString(file, "raddle-fl");
        try (FileJournal journal = open()) {
            journal.finished("a", "A");
        }
        try (FileJournal journal = open()) {
            assertThat(journal.find("a")).isNotNull();
        }
    }

    @Test
    void a_damaged_line_before_others_is_refused() throws IOException {
        try (FileJournal journal = open()) {
            journal.finished("a", "A");
        }
        Files.writeString(file, "done x =QQ 0\ndone y =QQ 0\n", StandardOpenOption.APPEND);

        assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("line 3 is not a record");
    }

    @Test
    void another_file_is_refused() throws IOException {
        Files.writeString(file, "something else\n");

        assertThatThrownBy(this::open).hasMessageContaining("it begins with \"something else\"");
    }

    @Test
    void one_at_a_time_may_have_it_open() throws IOException {
        try (FileJournal first = open()) {
            assertThatThrownBy(this::open).hasMessageContaining("is open already");
            assertThat(first.find("a")).isNull();
        }
    }

    @Test
    void a_value_that_cannot_be_kept_fails_its_node() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("numbers");
        f.node("number", () -> 1);
        try (FileJournal journal = open()) {
            FlowResult<Void> result = f.build().run(null, RunOptions.defaults().withJournal(journal));
            assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
            assertThat(result.node("number").cause()).hasMessageContaining("this journal keeps strings");
        }
    }

    @Test
    void a_second_run_does_only_what_the_first_has_not_finished() throws Exception {
        AtomicInteger runsOfA = new AtomicInteger();
        AtomicInteger runsOfB = new AtomicInteger();
        FlowBuilder<Void> f = FlowPlan.define("resumed");
        Node<String> a = f.node("a", () -> "A" + runsOfA.incrementAndGet());
        Node<String> b = f.node("b", a, x -> {
            if (runsOfB.incrementAndGet() == 1) {
                throw new IllegalStateException("first time");
            }
            return x + "B";
        });
        FlowPlan<Void, String> plan = f.returning(b);
        try (FileJournal journal = open()) {
            assertThat(plan.run(null, RunOptions.defaults().withJournal(journal))
                            .status())
                    .isEqualTo(FlowStatus.FAILED);
        }
        try (FileJournal journal = open()) {
            FlowResult<String> result = plan.run(null, RunOptions.defaults().withJournal(journal));
            assertThat(result.value()).isEqualTo("A1B");
            assertThat(result.node("a").via()).isEqualTo(Via.JOURNAL);
        }
        assertThat(runsOfA).hasValue(1);
    }
}
