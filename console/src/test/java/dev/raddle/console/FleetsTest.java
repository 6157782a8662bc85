package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FleetsTest {

    private static final Fleets.Row ROW = new Fleets.Row(
            true,
            null,
            2,
            1,
            null,
            Map.of("a", new Fleets.InstanceRow("1", 10, 20, null)),
            Map.of("k", new Fleets.GroupRow(3, null, 2, 1, List.of(new Fleets.HolderRow("a", 2, 15)))));

    private static Fleets.Source source(LongFunction<Fleets.Row> read) {
        return new Fleets.Source() {
            @Override
            public boolean isUp() {
                return true;
            }

            @Override
            public Fleets.Row read(long now) {
                return read.apply(now);
            }
        };
    }

    @Test
    void a_fleet_whose_server_does_not_answer_delays_nothing_and_is_asked_once() {
        Semaphore answers = new Semaphore(0);
        AtomicInteger calls = new AtomicInteger();
        Fleets fleets = new Fleets();
        fleets.add("orders", source(now -> {
            calls.incrementAndGet();
            answers.acquireUninterruptibly();
            return ROW;
        }));

        for (long now = 1_000_000; now < 1_100_000; now += 1_000) {
            assertThat(fleets.rows(now).fleets().get("orders").groups()).isEmpty();
        }
        answers.release();
        while (fleets.rows(1_000_000).fleets().get("orders").groups().isEmpty()) {
            Thread.onSpinWait();
        }
        assertThat(calls).hasValue(1);
        assertThat(fleets.rows(1_000_000).fleets()).containsEntry("orders", ROW);
    }

    @Test
    void permits_come_back_when_the_lease_of_a_dead_instance_has_ended() {
        Fleets fleets = new Fleets();
        Fleets.Row row = new Fleets.Row(
                true,
                null,
                0,
                0,
                null,
                Map.of("a", new Fleets.InstanceRow("1", 10, 2_000_000, 900_000L)),
                ROW.groups());
        fleets.add("orders", source(_ -> row));
        while (fleets.rows(1_000_000).fleets().get("orders").groups().isEmpty()) {
            Thread.onSpinWait();
        }

        assertThat(said(fleets, 1_000_000)).endsWith("It holds 2 permits, which come back in [time].");
        assertThat(said(fleets, 2_000_000)).endsWith("It holds 2 permits, which come back, as its lease has ended.");
    }

    private static String said(Fleets fleets, long now) {
        Findings findings = new Findings(List.of(fleets), new Changes());
        findings.update(now);
        Finding finding = findings.page(now, null).findings().getFirst();
        return IncidentTest.text(Json.object(finding));
    }

    @Test
    void a_problem_is_shown_beside_what_was_read_last() {
        AtomicInteger calls = new AtomicInteger();
        Fleets fleets = new Fleets();
        Console.Watch watch = fleets.add("orders", source(now -> {
            if (calls.incrementAndGet() > 1) {
                throw new IllegalStateException("no connection");
            }
            return ROW;
        }));
        long now = 1_000_000;
        Fleets.Row row = fleets.rows(now).fleets().get("orders");
        while (row.problem() == null || !row.problem().contains("no connection")) {
            now += 1_000;
            row = fleets.rows(now).fleets().get("orders");
            Thread.onSpinWait();
        }
        assertThat(row.groups()).containsOnlyKeys("k");

        watch.close();
        assertThat(fleets.rows(now).fleets()).isEmpty();
    }
}
