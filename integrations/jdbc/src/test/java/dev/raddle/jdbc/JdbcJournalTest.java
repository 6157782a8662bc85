package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FencedException;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowJournal.Work;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.ValueSource;
import dev.raddle.processes.Await;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One statement is both the record and the check of the fence. */
@Timeout(120)
class JdbcJournalTest {
    private static final Work WORK = new Work("run-1", "flow", "digest", null);

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private RunTable runs;
    private JournalWriter writer;

    @BeforeEach
    void store_a_run() throws SQLException {
        new Schema(new Database(database.pool())).apply();
        runs = new RunTable(new Database(database.pool()));
        try (Connection connection = database.pool().getConnection()) {
            RunTable.submit(connection, "run-1", "flow", "1", null, Map.of());
        }
        writer = new JournalWriter(new Database(database.pool()), "test");
        writer.start();
    }

    @AfterEach
    void close_the_writer() {
        writer.close();
    }

    private JdbcJournal claim(String worker) throws SQLException {
        return claim(worker, writer);
    }

    private JdbcJournal claim(String worker, JournalWriter through) throws SQLException {
        RunTable.Claim claim = Objects.requireNonNull(runs.claim("run-1", worker, true));
        EntryRow.Maker maker = new EntryRow.Maker("run-1", claim.epoch(), new Values(FlowCodec.text()));
        return new JdbcJournal(
                new Database(database.pool()),
                through,
                new DatabaseClock(new Database(database.pool())),
                maker,
                Set.of("a", "b"),
                (id, value) -> {},
                Duration.ofSeconds(5),
                false);
    }

    private static Entry ended(String node, String value) {
        return Entry.NodeEnded.succeeded(node, value);
    }

    private long rows() throws SQLException {
        return Long.parseLong(database.query("SELECT count(*) FROM raddle_entry WHERE kind = 'NODE'"));
    }

    @Test
    void everything_that_is_recorded_is_found_again() throws Exception {
        RecordedFailure failure = RecordedFailure.of(new IllegalStateException("no"));
        Instant at = Instant.parse("2026-01-02T03:04:05.678901Z");
        List<Entry> entries = List.of(
                new Entry.Begun(at, List.of("x, \"y\" \\ z", "NULL", "")),
                new Entry.AttemptFailed("a", 2, failure, true),
                new Entry.NodeEnded("a", NodeState.SUCCESS, ValueSource.FALLBACK, "ä", 2, failure, 1, at),
                new Entry.DeadlineSet("b", at),
                new Entry.SleepUntil("s", at),
                new Entry.SignalReceived("signal", null),
                new Entry.ElementEnded("map", 1, "one"),
                new Entry.ElementEnded("map", 0, null),
                new Entry.MapEnded("map", 2, 2, at),
                new Entry.Compensating(FlowStatus.FAILED, failure, at),
                new Entry.Compensated("a"));
        JdbcJournal journal = claim("first");
        journal.open(WORK);
        for (Entry entry : entries) {
            journal.record(entry);
        }

        assertThat(claim("second").open(WORK)).isEqualTo(entries);
    }

    @Test
    void moments_that_are_too_far_are_replaced_by_the_farthest_one() throws Exception {
        JdbcJournal journal = claim("first");
        journal.open(WORK);
        List<String> moments = List.of(
                "9999-12-31T23:59:59.999999999Z",
                "+10000-01-01T00:00:00Z",
                "+294277-01-01T00:00:00Z",
                "+1000000000-12-31T23:59:59.999999999Z",
                "-1000000000-01-01T00:00:00Z");
        for (String moment : moments) {
            journal.record(new Entry.SleepUntil("until " + moment, Instant.parse(moment)));
            journal.record(new Entry.DeadlineSet("until " + moment, Instant.parse(moment)));
        }
        Map<String, Instant> sleeps = new LinkedHashMap<>();
        Map<String, Instant> deadlines = new LinkedHashMap<>();
        for (Entry entry : claim("second").open(WORK)) {
            if (entry instanceof Entry.SleepUntil sleep) {
                sleeps.put(sleep.id(), sleep.until());
            } else if (entry instanceof Entry.DeadlineSet limit) {
                deadlines.put(limit.id(), limit.until());
            }
        }
        assertThat(sleeps).hasSize(moments.size()).isEqualTo(deadlines);
        assertThat(sleeps)
                .containsEntry("until " + moments.getFirst(), EntryRow.FARTHEST)
                .containsEntry("until " + moments.getLast(), Instant.parse("0001-01-02T00:00:00Z"));
    }

    @Test
    void texts_that_PostgreSQL_cannot_store_are_replaced() throws Exception {
        JdbcJournal journal = claim("first");
        journal.open(WORK);
        RecordedFailure odd = new RecordedFailure("a\0.B", "no\0 \uD800", "at \uDC00");
        journal.record(new Entry.AttemptFailed("a", 1, odd, true));
        assertThatThrownBy(() -> journal.record(ended("b\0", "1")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("node \"b?\" has a character that PostgreSQL cannot store");

        assertThat(claim("second").open(WORK))
                .containsExactly(new Entry.AttemptFailed("a", 1, new RecordedFailure("a?.B", "no? ?", "at ?"), true));
    }

    @Test
    void a_writer_that_waits_for_a_connection_is_left_behind_when_it_is_closed() throws Exception {
        try (TestPool pool = new TestPool(database.url(), 1)) {
            JournalWriter stuck = new JournalWriter(new Database(pool), "stuck", Duration.ofMillis(50));
            JdbcJournal journal = claim("first", stuck);
            journal.open(WORK);
            stuck.start();
            CompletableFuture<Void> record;
            try (Connection only = pool.getConnection()) {
                record = CompletableFuture.runAsync(() -> {
                    assertThatThrownBy(() -> journal.record(ended("a", "1"))).isInstanceOf(FencedException.class);
                });
                Await.until("the writer waits for a connection", () -> pool.hasWaiters());
                stuck.close();
                record.get(30, TimeUnit.SECONDS);
                assertThat(only.isClosed()).isFalse();
            }
        }
    }

    @Test
    void a_journal_of_an_earlier_claim_writes_nothing() throws Exception {
        JdbcJournal first = claim("first");
        first.open(WORK);
        first.record(ended("a", "1"));
        JdbcJournal second = claim("second");

        assertThatThrownBy(() -> first.record(ended("b", "2"))).isInstanceOf(FencedException.class);
        assertThatThrownBy(() -> first.record(ended("b", "2"))).isInstanceOf(FencedException.class);
        assertThat(second.open(WORK)).containsExactly(ended("a", "1"));
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void an_earlier_claim_neither_ends_nor_releases_the_run() throws Exception {
        JdbcJournal first = claim("first");
        claim("second");

        assertThat(runs.end("run-1", first.epoch(), 7, new RunTable.Ended("SUCCESS", null, null, null)))
                .isFalse();
        runs.release("run-1", first.epoch(), "none", false);
        assertThat(database.query("SELECT status FROM raddle_run")).isEqualTo("RUNNING");
    }

    /** Claims the run in a transaction that has not ended yet while the first claimer records. */
    private Throwable recordDuringClaim(UnaryOperator<String> rewriting) throws Exception {
        try (TestPool pool = new TestPool(database.url(), 4, rewriting);
                Connection claimer = database.pool().getConnection();
                Statement statement = claimer.createStatement()) {
            JournalWriter other = new JournalWriter(new Database(pool), "other");
            other.start();
            JdbcJournal first = claim("first", other);
            first.open(WORK);
            claimer.setAutoCommit(false);
            statement.execute("UPDATE raddle_run SET epoch = epoch + 1");
            CompletableFuture<Throwable> recorded = CompletableFuture.supplyAsync(() -> {
                try {
                    first.record(ended("a", "1"));
                    return null;
                } catch (Exception failure) {
                    return failure;
                }
            });
            Await.within(Duration.ofMillis(500), recorded::isDone); // the write waits for the lock
            claimer.commit();
            Throwable failure = recorded.join();
            other.close();
            return failure;
        }
    }

    @Test
    void a_record_waits_for_a_claim_that_is_under_way_and_is_refused() throws Exception {
        assertThat(recordDuringClaim(sql -> sql)).isInstanceOf(FencedException.class);
        assertThat(rows()).isZero();
    }

    @Test
    void without_the_lock_a_record_slips_past_a_claim() throws Exception {
        assertThat(recordDuringClaim(SeededBug.NO_LOCK::change)).isNull();
        assertThat(rows()).isOne();
    }

    @Test
    void without_the_epoch_an_earlier_claim_writes() throws Exception {
        assertThat(recordDuringClaim(SeededBug.NO_EPOCH::change)).isNull();
        assertThat(rows()).isOne();
    }

    @Test
    void a_run_of_another_plan_is_refused() throws Exception {
        JdbcJournal first = claim("first");
        first.open(WORK);
        first.record(ended("a", "1"));

        assertThatThrownBy(() -> claim("second").open(new Work("run-1", "flow", "changed", null)))
                .isInstanceOf(OtherPlanException.class)
                .hasMessageContaining("run \"run-1\" began with another plan of flow \"flow\"");
    }

    @Test
    void a_value_that_is_too_long_is_refused_with_advice() throws Exception {
        JdbcJournal journal = claim("first");
        journal.open(WORK);

        assertThatThrownBy(() -> journal.record(ended("a", "x".repeat(50_000_000))))
                .hasMessage("the value of node \"a\" has 50000000 bytes, and at most 1000000 are stored; store it"
                        + " elsewhere and let the node return a reference to it");
        journal.record(ended("a", "x".repeat(1_000_000)));
        assertThat(rows()).isOne();
    }

    @Test
    void a_row_that_the_database_refuses_does_not_harm_others_of_the_same_statement() throws Exception {
        JdbcJournal journal = claim("first");
        journal.open(WORK);
        List<CompletableFuture<Boolean>> written = java.util.stream.IntStream.range(0, 20)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> {
                    try {
                        journal.record(ended(i == 7 ? "a\0" : "n" + i, "1"));
                        return true;
                    } catch (Exception refused) {
                        return false;
                    }
                }))
                .toList();

        assertThat(written.stream().filter(CompletableFuture::join).count()).isEqualTo(19);
        assertThat(rows()).isEqualTo(19);
    }

    @Test
    void rows_of_others_and_damaged_rows_are_refused_with_their_position() throws Exception {
        JdbcJournal journal = claim("first");
        journal.open(WORK);
        journal.record(ended("a", "1"));

        database.execute("UPDATE raddle_entry SET state = NULL WHERE kind = 'NODE'");
        assertThatThrownBy(() -> claim("second").open(WORK))
                .hasMessageContaining("row 1 of epoch 1")
                .hasMessageContaining("state");
        database.execute("UPDATE raddle_entry SET kind = 'GHOST' WHERE kind = 'NODE'");
        assertThatThrownBy(() -> claim("third").open(WORK)).hasMessageContaining("unknown kind \"GHOST\"");
    }

    @Test
    void a_thread_that_is_interrupted_while_it_records_has_recorded() throws Exception {
        JdbcJournal journal = claim("first");
        journal.open(WORK);
        Thread.currentThread().interrupt();
        journal.record(ended("a", "1"));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(rows()).isOne();
    }
}
