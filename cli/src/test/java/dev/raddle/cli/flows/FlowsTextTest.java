package dev.raddle.cli.flows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.RecordedFailure;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.Schedule;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import dev.raddle.jdbc.StoredSchedule;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FlowsTextTest {
    private static final Instant NOON = Instant.parse("2026-01-31T12:00:00.123Z");
    private static final RecordedFailure FAILURE = new RecordedFailure("Late", "no\nvan", "at a\nat b\u001b\n");
    private static final StoredRun RUN = new StoredRun(
            "o-\u001b17", "shop", "1", RunState.FAILED, 2, "w", NOON, NOON, NOON.plusSeconds(9), FAILURE, null, null);
    private static final StoredRun WAITING =
            new StoredRun("b", "shop", "2", RunState.WAITING, 0, null, NOON, null, null, null, "x".repeat(90), null);

    private static StoredRun parked(Instant until) {
        return new StoredRun("c", "shop", "1", RunState.WAITING, 1, "w", NOON, NOON, null, null, null, until);
    }

    @Test
    void a_run_without_a_worker_says_what_it_waits_for() {
        StoredRun sleeping = parked(NOON.plusSeconds(60));
        StoredRun signalled = parked(Instant.MAX);

        assertThat(FlowsTable.list(List.of(sleeping, signalled), 5))
                .contains("waits until 2026-01-31T12:01:00Z\n", "waits for a signal\n");
        assertThat(FlowsTable.run(signalled, List.of())).contains("\nwaits    for a signal\n");
        assertThat(FlowsJson.list(List.of(sleeping, signalled)))
                .contains("\"waitsUntil\":\"2026-01-31T12:01:00.123Z\"", "\"waitsUntil\":\"signal\"");
    }

    private static StoredEntry entry(
            String kind, @Nullable String node, @Nullable String state, @Nullable Integer count) {
        return new StoredEntry(1, 0, kind, node, state, null, count, NOON, null, List.of(), null);
    }

    @Test
    void a_list_has_a_line_for_each_run_with_the_failure_or_the_problem() {
        assertThat(FlowsTable.list(List.of(RUN, WAITING), 5)).isEqualTo("""
                RUN         FLOW  VERSION  STATE    CLAIMS  CREATED               ENDED                 REASON
                o-\\u001b17  shop  1        FAILED   2       2026-01-31T12:00:00Z  2026-01-31T12:00:09Z  Late: no\\nvan
                b           shop  2        WAITING  0       2026-01-31T12:00:00Z                        xxxx…
                """.replace("xxxx", "x".repeat(80)));
    }

    @Test
    void a_list_of_schedules_has_the_next_moment_of_each_or_that_it_is_paused() {
        Schedule nightly = Schedule.cron("0 3 * * *", ZoneOffset.UTC);
        List<StoredSchedule> schedules = List.of(
                new StoredSchedule("a", "shop", nightly, NOON, null, "no\nvan"),
                new StoredSchedule("b\u001b", "shop", nightly, null, "b/1", null));

        assertThat(FlowsTable.schedules(schedules)).isEqualTo("""
                SCHEDULE  FLOW  CRON       ZONE  NEXT                  LATEST RUN  PROBLEM
                a         shop  0 3 * * *  Z     2026-01-31T12:00:00Z              no\\nvan
                b\\u001b   shop  0 3 * * *  Z     paused                b/1
                """);
        assertThat(FlowsTable.schedules(List.of())).isEqualTo("no schedules\n");
        assertThat(FlowsJson.schedules(schedules.subList(1, 2)))
                .isEqualTo("{\"schedules\":[{\"name\":\"b\\u001b\",\"flow\":\"shop\",\"cron\":\"0 3 * * *\","
                        + "\"zone\":\"Z\",\"overlap\":\"WAIT\",\"nextAt\":null,"
                        + "\"lastRun\":\"b/1\",\"problem\":null}]}\n");
    }

    @Test
    void a_journal_is_told_in_words() {
        List<StoredEntry> entries = List.of(
                new StoredEntry(1, 1, "BEGUN", null, null, null, null, NOON, null, List.of("a", "b"), null),
                entry("DEADLINE", "a", null, null),
                new StoredEntry(1, 1, "ATTEMPT", "a", null, null, 1, null, FAILURE, List.of(), null),
                new StoredEntry(1, 1, "ATTEMPT", "a", "LAST", null, 2, null, FAILURE, List.of(), null),
                new StoredEntry(1, 1, "NODE", "a", "SUCCESS", "FALLBACK", 2, null, null, List.of(), null),
                entry("NODE", "b", "SKIPPED", 0),
                entry("SLEEP", "c", null, null),
                entry("SIGNAL", "d", null, null),
                entry("ELEMENT", "e", null, 3),
                entry("MAP", "e", null, 4),
                entry("COMPENSATING", null, "FAILED", null),
                entry("COMPENSATED", "a", null, null),
                entry("ENDED", null, "FAILED", null),
                entry("NEWER", "f\n", null, null));

        assertThat(FlowsTable.run(RUN, entries)).isEqualTo("""
                run      o-\\u001b17
                state    FAILED
                flow     shop, version 1
                failure  Late: no\\nvan
                worker   w, claim 2
                next     it can run again: nodes that have succeeded keep their values, all others run
                created  2026-01-31T12:00:00Z
                begun    2026-01-31T12:00:00Z
                ended    2026-01-31T12:00:09Z

                CLAIM  NODE  ENTRY                                        FAILURE
                1            begins at 2026-01-31T12:00:00Z, again: a, b
                1      a     times out at 2026-01-31T12:00:00Z
                1      a     attempt 1 has failed                         Late: no\\nvan
                1      a     attempt 2 has failed, the last one           Late: no\\nvan
                1      a     SUCCESS, attempt 2, by the fallback
                1      b     SKIPPED
                1      c     sleeps until 2026-01-31T12:00:00Z
                1      d     signal received
                1      e     element 3 done
                1      e     all 4 elements done
                1            compensates, then ends as FAILED
                1      a     compensated
                1            ends as FAILED
                1      f\\n   NEWER

                Late: no\\nvan
                    at a
                    at b\\u001b
                """);
        assertThat(FlowsTable.run(WAITING, List.of())).isEqualTo("""
                run      b
                state    WAITING
                flow     shop, version 2
                problem  xxxx
                next     the next free worker of its version continues it; it can be cancelled
                created  2026-01-31T12:00:00Z

                nothing recorded yet
                """.replace("xxxx", "x".repeat(90)));
    }
}
