package dev.raddle.flow;

import static dev.raddle.flow.Entry.NodeEnded.succeeded;
import static dev.raddle.flow.JournalRecords.find;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FileJournal.Opening;
import dev.raddle.flow.JournalRecords.Recorded;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

@Timeout(60)
class FileJournalTest {

    /** A file on a disk that can become full or fail. */
    private static final class Disk extends RandomAccessFile {
        private boolean full;
        private boolean broken;

        Disk(File file) throws IOException {
            super(file, "rw");
        }

        @Override
        public void write(byte[] bytes) throws IOException {
            super.write(bytes, 0, full || broken ? bytes.length / 2 : bytes.length);
            ensure(!full && !broken);
        }

        @Override
        public void setLength(long length) throws IOException {
            ensure(!broken);
            super.setLength(length);
        }

        private void ensure(boolean works) throws IOException {
            if (!works) {
                throw new IOException(broken ? "disk is broken" : "disk is full");
            }
        }
    }

    /** A codec that performs an action before each conversion. */
    private record Prepared(Runnable encoding, Runnable decoding) implements FlowCodec {
        @Override
        public byte[] encode(Object value) throws IOException {
            encoding.run();
            return FlowCodec.text().encode(value);
        }

        @Override
        public Object decode(byte[] bytes) throws IOException {
            decoding.run();
            return FlowCodec.text().decode(bytes);
        }
    }

    private static final Runnable NOTHING = () -> {};
    private static final Runnable FAILING = () -> {
        throw new IllegalStateException("no codec for that");
    };

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("run.journal");
    }

    private FileJournal open() throws IOException {
        return FileJournal.open(file, FlowCodec.text());
    }

    @Test
    void records_are_present_when_the_file_is_opened_again() throws IOException {
        try (FileJournal journal = open()) {
            journal.record(succeeded("a b", "value\nof two lines"));
            journal.record(succeeded("nothing", null));
            journal.record(succeeded("empty", ""));
            journal.record(succeeded("gone", "x"));
            journal.record(new Entry.Begun(Instant.EPOCH, List.of("gone")));
        }
        try (FileJournal journal = open()) {
            assertThat(find(journal, "a b")).isEqualTo(new Recorded("value\nof two lines"));
            assertThat(find(journal, "nothing")).isEqualTo(new Recorded(null));
            assertThat(find(journal, "empty")).isEqualTo(new Recorded(""));
            assertThat(find(journal, "gone")).isNull();
        }
    }

    @Test
    void a_record_that_is_truncated_anywhere_is_dropped_and_the_next_one_is_complete() throws IOException {
        long before;
        try (FileJournal journal = open()) {
            journal.record(succeeded("a", "A"));
            before = Files.size(file);
            journal.record(succeeded("b", "B"));
        }
        byte[] whole = Files.readAllBytes(file);
        for (int length = (int) before; length < whole.length; length++) {
            Files.write(file, Arrays.copyOf(whole, length));
            try (FileJournal journal = open()) {
                assertThat(find(journal, "a")).isNotNull();
                assertThat(find(journal, "b")).isNull();
                journal.record(succeeded("c", "C"));
            }
            try (FileJournal journal = open()) {
                assertThat(find(journal, "c")).isEqualTo(new Recorded("C"));
            }
        }
    }

    @Test
    void a_part_of_a_header_is_refused_and_not_changed() throws IOException {
        open().close();
        byte[] header = Files.readAllBytes(file);
        for (int length = 1; length < header.length; length++) {
            byte[] part = Arrays.copyOf(header, length);
            Files.write(file, part);
            assertThatThrownBy(this::open)
                    .hasMessageContaining("it begins with \"" + new String(part, UTF_8) + "\", and a journal with")
                    .hasMessageContaining("remove the file");
            assertThat(file).hasBinaryContent(part);
        }
    }

    @Test
    void an_empty_file_becomes_a_journal() throws IOException {
        Files.createFile(file);
        try (FileJournal journal = open()) {
            journal.record(succeeded("a", "A"));
        }
        try (FileJournal journal = open()) {
            assertThat(find(journal, "a")).isNotNull();
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "there are no permissions of an owner")
    void a_new_journal_is_readable_by_its_owner_only() throws IOException {
        open().close();
        assertThat(Files.getPosixFilePermissions(file))
                .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    }

    private FlowPlan<Object, String> greeting(String flow, String... more) {
        FlowBuilder<Object> f = FlowPlan.define(flow, Object.class);
        Node<String> hello = f.node("hello", c -> "hello " + c.param());
        for (String id : more) {
            f.node(id, () -> id);
        }
        return f.returning(hello);
    }

    private FlowResult<String> run(FlowPlan<Object, String> plan, Object parameter, @Nullable String key)
            throws Exception {
        try (FileJournal journal = open()) {
            RunOptions options = RunOptions.defaults();
            return plan.run(parameter, key == null ? options.withJournal(journal) : options.withJournal(journal, key));
        }
    }

    @Test
    void a_run_of_another_plan_or_with_another_parameter_is_refused_and_the_file_is_not_changed() throws Exception {
        run(greeting("greeting"), "alice", null);
        byte[] before = Files.readAllBytes(file);
        assertThatThrownBy(() -> run(greeting("greeting"), "bob", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "journal " + file + " was begun by a run of flow \"greeting\" with another parameter; give each"
                                + " run a journal of its own");
        assertThatThrownBy(() -> run(greeting("greeting"), null, null)).hasMessageContaining("another parameter");
        assertThatThrownBy(() -> run(greeting("greeting"), 1, null)).hasMessageContaining("another parameter");
        assertThatThrownBy(() -> run(greeting("other"), "alice", null))
                .hasMessageContaining("was begun by a run of flow \"greeting\", and this is flow \"other\"");
        assertThatThrownBy(() -> run(greeting("greeting", "more"), "alice", null))
                .hasMessageContaining("with other nodes or dependencies");
        assertThat(file).hasBinaryContent(before);
        assertThat(run(greeting("greeting"), "alice", null).node("hello").via()).isEqualTo(ValueSource.JOURNAL);
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(
            strings = {"nightly import", "100%", "50%20x", "two\nlines", "\u007f", "\u00e4", "plain"})
    void a_flow_may_have_any_name(String name) throws Exception {
        assertThat(run(greeting(name), "Ann", null).status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(run(greeting(name), "Ann", null).status()).isEqualTo(FlowStatus.SUCCESS);
        assertThatThrownBy(() -> run(greeting(name + " "), "Ann", null)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void numbers_and_enums_are_compared_by_their_text_and_their_type() throws Exception {
        for (Object parameter : List.of(17, 17L, true, 'x', OS.LINUX, new UUID(1, 2), new BigDecimal("1.0"))) {
            file = folder.resolve(parameter.getClass().getSimpleName());
            run(greeting("greeting"), parameter, null);
            assertThat(run(greeting("greeting"), parameter, null).node("hello").via())
                    .isEqualTo(ValueSource.JOURNAL);
            assertThatThrownBy(() -> run(greeting("greeting"), parameter.toString(), null))
                    .hasMessageContaining("another parameter");
        }
    }

    private enum Size {
        SMALL,
        LARGE;

        @Override
        public String toString() {
            return "a size";
        }
    }

    @Test
    void two_constants_with_one_text_are_different_parameters() throws Exception {
        run(greeting("greeting"), Size.SMALL, null);

        assertThatThrownBy(() -> run(greeting("greeting"), Size.LARGE, null)).hasMessageContaining("another parameter");
    }

    @Test
    void a_run_whose_parameter_the_codec_cannot_encode_needs_an_id() throws Exception {
        List<String> order = new ArrayList<>(List.of("book"));
        assertThatThrownBy(() -> run(greeting("greeting"), order, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot store the parameter of the run, a java.util.ArrayList")
                .hasMessageContaining("RunOptions.withJournal(journal, id)");
        run(greeting("greeting"), order, "order-17");
        order.add("pen");
        assertThat(run(greeting("greeting"), order, "order-17").value()).isEqualTo("hello [book]");
        assertThatThrownBy(() -> run(greeting("greeting"), order, "order-18"))
                .hasMessageContaining("with the id \"order-17\", and this run has the id \"order-18\"");
    }

    @Test
    void no_run_begins_if_its_file_cannot_be_bound() throws Exception {
        FileJournal closed = open();
        closed.close();
        assertThatThrownBy(() ->
                        greeting("greeting").run("alice", RunOptions.defaults().withJournal(closed)))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("is closed; the run of flow \"greeting\" cannot be recorded");
    }

    @Test
    void a_damaged_line_before_others_is_refused() throws IOException {
        try (FileJournal journal = open()) {
            journal.record(succeeded("a", "A"));
        }
        Files.writeString(file, "done x =QQ 0\ndone y =QQ 0\n", StandardOpenOption.APPEND);

        assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("line 3 is not a record");
    }

    @Test
    void a_journal_of_an_earlier_version_is_refused_with_advice() throws IOException {
        Files.writeString(file, "raddle-flow-journal/2\ndone a =QQ== 1\n");
        assertThatThrownBy(this::open)
                .hasMessageEndingWith(
                        "; let the version that has written it end its run, or remove the file to begin anew");
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "there are no permissions of an owner")
    void an_empty_file_becomes_private_to_its_owner() throws IOException {
        Files.createFile(file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        open().close();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
    }

    @Test
    void records_of_many_threads_are_complete_and_each_run_continues() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("wide");
        for (int i = 0; i < 200; i++) {
            String id = "n" + i;
            f.node(id, () -> id);
        }
        FlowPlan<Void, Void> plan = f.build();
        try (FileJournal journal = open()) {
            assertThat(plan.run(null, RunOptions.defaults().withJournal(journal))
                            .status())
                    .isEqualTo(FlowStatus.SUCCESS);
        }
        try (FileJournal journal = open()) {
            assertThat(journal.entries()).hasSize(202);
            assertThat(plan.run(null, RunOptions.defaults().withJournal(journal))
                            .nodes())
                    .allMatch(report -> report.via() == ValueSource.JOURNAL);
        }
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(
            strings = {"something else\n", "something else", "raddle-flow-journal/1\n", "raddle-flow-journal/10", "r"})
    void a_file_that_is_not_a_journal_is_refused_and_not_changed(String content) throws IOException {
        Files.writeString(file, content);

        assertThatThrownBy(this::open).hasMessageContaining("it begins with \"" + content.strip() + "\", and");
        assertThat(file).hasContent(content);
    }

    @Test
    void directories_files_in_missing_directories_and_dangling_links_are_refused() throws IOException {
        assertThatThrownBy(() -> FileJournal.open(folder, FlowCodec.text())).isInstanceOf(IOException.class);
        file = folder.resolve("none/run.journal");
        assertThatThrownBy(this::open).isInstanceOf(IOException.class);
        file = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("nothing"));
        assertThatThrownBy(this::open).isInstanceOf(IOException.class);
    }

    @Test
    void only_one_journal_at_a_time_has_a_file_open_under_any_name() throws Exception {
        List<Supplier<Path>> names = List.of(
                () -> file,
                () -> Path.of("").toAbsolutePath().relativize(file.toAbsolutePath()),
                () -> folder.resolve("../" + folder.getFileName() + "/run.journal"),
                () -> linked(folder.resolve("symbolic"), true),
                () -> linked(folder.resolve("hard"), false));
        try (FileJournal first = open()) {
            for (Supplier<Path> name : names) {
                Path other = name.get();
                assertThatThrownBy(() -> FileJournal.open(other, FlowCodec.text()))
                        .isInstanceOf(IOException.class)
                        .hasMessage("journal " + other + " is open already; one run at a time may write it");
            }
            first.record(succeeded("a", "A"));
            assertThat(FileJournalProgram.start("open", file).linesAtEnd())
                    .containsExactly("journal " + file + " is open already; one run at a time may write it");
        }
        try (FileJournal again = FileJournal.open(folder.resolve("symbolic"), FlowCodec.text())) {
            assertThat(find(again, "a")).isNotNull();
            assertThatThrownBy(this::open).hasMessageContaining("is open already");
        }
        assertThat(FileJournalProgram.start("open", file).linesAtEnd()).containsExactly("opened");
    }

    private Path linked(Path link, boolean symbolic) {
        try {
            return symbolic ? Files.createSymbolicLink(link, file) : Files.createLink(link, file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Test
    void a_file_that_is_locked_by_other_code_of_the_process_is_refused() throws IOException {
        open().close();
        try (FileChannel other = FileChannel.open(file, StandardOpenOption.WRITE)) {
            other.lock();
            assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("is open already");
        }
        open().close();
    }

    @Test
    void a_file_that_was_unreadable_can_be_opened_once_it_is_readable() throws IOException {
        Files.writeString(file, "something else\n");
        assertThatThrownBy(this::open).hasMessageContaining("is not a journal");
        Files.write(file, new byte[0]);
        open().close();
    }

    @Test
    void a_file_that_can_neither_be_read_nor_closed_is_refused_with_the_first_failure() throws IOException {
        Files.writeString(file, "something else\n");
        Opening opening = path -> new RandomAccessFile(path, "rw") {
            @Override
            public void close() throws IOException {
                super.close();
                throw new IOException("disk is broken");
            }
        };
        assertThatThrownBy(() -> FileJournal.open(file, FlowCodec.text(), opening))
                .hasMessageContaining("is not a journal")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("disk is broken"));
        Files.write(file, new byte[0]);
        open().close();
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(longs = {Integer.MAX_VALUE - 7L, Integer.MAX_VALUE + 1L, 1L << 40})
    void a_file_that_is_too_large_is_refused_and_not_changed(long length) throws IOException {
        open().close();
        Opening opening = path -> new RandomAccessFile(path, "rw") {
            @Override
            public long length() {
                return length;
            }
        };
        assertThatThrownBy(() -> FileJournal.open(file, FlowCodec.text(), opening))
                .isInstanceOf(IOException.class)
                .hasMessage("journal " + file + " is too large: it can be read up to 2147483639 bytes and has " + length
                        + "; move it away to begin anew");
        open().close();
    }

    @Test
    void closing_an_old_journal_again_does_not_allow_a_third_one() throws Exception {
        FileJournal old = open();
        old.close();
        try (FileJournal current = open()) {
            old.close();
            assertThatThrownBy(this::open).hasMessageContaining("is open already");
            assertThat(FileJournalProgram.start("open", file).linesAtEnd()).doesNotContain("opened");
            current.record(succeeded("a", "A"));
        }
        open().close();
    }

    @Test
    void a_closed_journal_records_nothing_and_throws() throws IOException {
        FileJournal journal = open();
        journal.record(succeeded("a", "A"));
        journal.close();
        assertThatThrownBy(() -> journal.record(succeeded("b", "B")))
                .isInstanceOf(IOException.class)
                .hasMessage("journal " + file + " is closed; the entry \"ended\" of \"b\" cannot be recorded, close the"
                        + " journal after the run");
        assertThatThrownBy(() -> journal.record(new Entry.Begun(Instant.EPOCH, List.of("a"))))
                .hasMessageContaining("is closed");
        assertThat(find(journal, "a")).isNotNull();
        assertThat(find(journal, "b")).isNull();
        assertThat(journal).hasToString("journal " + file + " of 1 entries");
    }

    @Test
    void an_interrupt_of_a_recording_thread_is_preserved_and_harmless() throws IOException {
        Thread.currentThread().interrupt();
        try (FileJournal journal = FileJournal.open(file, new Prepared(Thread.currentThread()::interrupt, NOTHING))) {
            journal.record(succeeded("a", null));
            assertThat(Thread.interrupted()).isTrue();
            journal.record(succeeded("b", "B"));
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            journal.record(new Entry.Begun(Instant.EPOCH, List.of("a")));
            assertThat(Thread.interrupted()).isTrue();
            journal.record(succeeded("c", "C"));
            Thread.interrupted();
            journal.record(succeeded("d", null));
        }
        try (FileJournal journal = open()) {
            assertThat(journal).hasToString("journal " + file + " of 5 entries");
        }
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {true, false})
    void interrupts_of_a_recording_thread_are_harmless_at_any_time(boolean virtual) throws Exception {
        AtomicBoolean kept = new AtomicBoolean();
        try (FileJournal journal = open()) {
            Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
            Thread writer = builder.start(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    Thread.onSpinWait();
                }
                for (int i = 0; i < 100; i++) {
                    record(journal, "n" + i);
                }
                kept.set(Thread.currentThread().isInterrupted());
            });
            while (writer.isAlive()) {
                writer.interrupt();
                Thread.onSpinWait();
            }
        }
        assertThat(kept).isTrue();
        try (FileJournal journal = open()) {
            assertThat(journal).hasToString("journal " + file + " of 100 entries");
        }
    }

    private static void record(FileJournal journal, String id) {
        try {
            journal.record(succeeded(id, id));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Test
    void a_value_that_cannot_be_encoded_is_not_recorded() throws IOException {
        AtomicBoolean fails = new AtomicBoolean();
        try (FileJournal journal =
                FileJournal.open(file, new Prepared(() -> (fails.get() ? FAILING : NOTHING).run(), NOTHING))) {
            journal.record(succeeded("a", "A"));
            fails.set(true);
            assertThatThrownBy(() -> journal.record(succeeded("b", "B"))).hasMessage("no codec for that");
            fails.set(false);
            assertThat(find(journal, "b")).isNull();
            journal.record(succeeded("c", "C"));
        }
        assertAAndC();
    }

    @Test
    void a_record_that_does_not_fit_on_the_disk_is_removed() throws IOException {
        Disk[] disk = new Disk[1];
        try (FileJournal journal = FileJournal.open(file, FlowCodec.text(), name -> disk[0] = new Disk(name))) {
            journal.record(succeeded("a", "A"));
            long length = disk[0].length();
            disk[0].full = true;
            assertThatThrownBy(() -> journal.record(succeeded("b", "B"))).hasMessage("disk is full");
            assertThatThrownBy(() -> journal.record(new Entry.Begun(Instant.EPOCH, List.of("a"))))
                    .hasMessage("disk is full");
            assertThat(disk[0].length()).isEqualTo(length);
            assertThat(find(journal, "a")).isNotNull();
            assertThat(find(journal, "b")).isNull();
            disk[0].full = false;
            journal.record(succeeded("c", "C"));
        }
        assertAAndC();
    }

    @Test
    void a_torn_record_that_cannot_be_removed_is_overwritten_or_dropped_on_open() throws IOException {
        Disk[] disk = new Disk[1];
        try (FileJournal journal = FileJournal.open(file, FlowCodec.text(), name -> disk[0] = new Disk(name))) {
            journal.record(succeeded("a", "A"));
            disk[0].broken = true;
            assertThatThrownBy(() -> journal.record(succeeded("b", "a long value ".repeat(100))))
                    .hasMessage("disk is broken")
                    .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));
            disk[0].broken = false;
            journal.record(succeeded("c", "C"));
        }
        assertAAndC();
    }

    private void assertAAndC() throws IOException {
        try (FileJournal journal = open()) {
            assertThat(find(journal, "a")).isEqualTo(new Recorded("A"));
            assertThat(find(journal, "b")).isNull();
            assertThat(find(journal, "c")).isEqualTo(new Recorded("C"));
        }
    }

    @Test
    void a_value_that_cannot_be_decoded_is_named_and_the_file_is_not_changed() throws IOException {
        try (FileJournal journal = open()) {
            journal.record(succeeded("nothing", null));
            journal.record(succeeded("a b", "A"));
        }
        byte[] before = Files.readAllBytes(file);

        assertThatThrownBy(() -> FileJournal.open(file, new Prepared(NOTHING, FAILING)))
                .isInstanceOf(IOException.class)
                .hasMessage("journal " + file + " has an entry \"ended\" of \"a b\" in line 3 that cannot be read;"
                        + " open it with the codec and the version that wrote it")
                .hasRootCauseMessage("no codec for that");
        assertThat(file).hasBinaryContent(before);
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(
            strings = {"", " ", "%", "%41", "+", "a b\nc", "-", "\u00fc\ud83d\ude00", "=", "\r"})
    void ids_and_values_can_be_any_text(String text) throws IOException {
        try (FileJournal journal = open()) {
            journal.record(succeeded(text, text));
            journal.record(succeeded("gone" + text, "x"));
            journal.record(new Entry.Begun(Instant.EPOCH, List.of("gone" + text)));
        }
        try (FileJournal journal = open()) {
            assertThat(find(journal, text)).isEqualTo(new Recorded(text));
            assertThat(find(journal, "gone" + text)).isNull();
        }
    }

    @Test
    void a_text_that_cannot_be_restored_exactly_is_refused() throws IOException {
        String half = "\ud83d";
        try (FileJournal journal = open()) {
            assertThatThrownBy(() -> journal.record(succeeded("a", half)))
                    .hasMessage("a text with an unpaired surrogate cannot be stored; split it elsewhere");
            assertThatThrownBy(() -> journal.record(succeeded(half, "A"))).isInstanceOf(IOException.class);
            assertThat(find(journal, "a")).isNull();
        }
    }

    // FlowJournal: only finished nodes are recorded, and recorded nodes are not run again
    @Test
    @Timeout(300)
    void a_process_that_is_killed_repeatedly_runs_each_recorded_node_once() throws Exception {
        List<String> ran = new ArrayList<>();
        for (int lines : new int[] {1, 6, 11, 3}) {
            List<String> recorded = recorded(ran);
            FileJournalProgram program = FileJournalProgram.start("run", file);
            List<String> now = program.linesWhenKilledAfter(lines);
            assertThat(now)
                    .hasSizeGreaterThanOrEqualTo(lines)
                    .doesNotHaveDuplicates()
                    .noneMatch(recorded::contains);
            ran.addAll(now);
        }
        List<String> recorded = recorded(ran);
        assertThat(recorded).hasSizeGreaterThan(10); // all but three, which may be in progress, in each process

        List<String> last = FileJournalProgram.start("run", file).linesAtEnd();

        assertThat(last).noneMatch(recorded::contains).endsWith(FileJournalProgram.RESULT);
        ran.addAll(last);
        assertThat(recorded(ran)).hasSize(FileJournalProgram.NODES);
    }

    private List<String> recorded(List<String> ran) throws IOException {
        try (FileJournal journal = open()) {
            List<String> ids = FileJournalProgram.ids().stream()
                    .filter(id -> find(journal, id) != null)
                    .toList();
            assertThat(ran).containsAll(ids);
            for (String id : ids) {
                assertThat(find(journal, id)).isEqualTo(new Recorded(id.toUpperCase(Locale.ROOT)));
            }
            return ids;
        }
    }

    @Test
    void a_value_that_cannot_be_stored_fails_its_node() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("numbers");
        f.node("number", () -> 1);
        try (FileJournal journal = open()) {
            FlowResult<Void> result = f.build().run(null, RunOptions.defaults().withJournal(journal));
            assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
            assertThat(result.node("number").cause())
                    .hasMessageContaining("this codec stores values of java.lang.String");
        }
    }

    @Test
    void a_second_run_runs_only_the_nodes_that_the_first_has_not_finished() throws Exception {
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
            assertThat(result.node("a").via()).isEqualTo(ValueSource.JOURNAL);
        }
        assertThat(runsOfA).hasValue(1);
    }
}
