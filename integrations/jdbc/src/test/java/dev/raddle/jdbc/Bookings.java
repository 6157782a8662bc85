package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.allOf;
import static dev.raddle.flow.Dependency.order;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.OnFailure;
import dev.raddle.flow.RunOptions;
import dev.raddle.task.RetryPolicy;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A flow whose payment is undone if the run is stopped, while a map and a nested flow run beside it. A row for the
 * payment, and one for its undoing, are inserted in the transactions in which these are recorded. So a judge that does
 * not ask the journal finds out what was undone twice.
 */
final class Bookings {
    static final String FLOW = "booking";

    static final String TABLES = "CREATE TABLE paid (run_id text); CREATE TABLE undone (run_id text, node text)";

    /** What stops a run, by the version of its plan. */
    enum Stop {
        CANCEL(RunOptions.defaults()),
        DEADLINE(RunOptions.timeout(Duration.ofMillis(150))),
        FAIL_FAST(RunOptions.defaults().onFailure(OnFailure.FAIL_FAST));

        final RunOptions options;

        Stop(RunOptions options) {
            this.options = options;
        }
    }

    private static final RetryPolicy OUTAGE = RetryPolicy.fixedDelay(200, Duration.ofMillis(200));

    private Bookings() {}

    static FlowPlan<String, String> plan(Stop stop, Duration length) {
        FlowBuilder<String> f = FlowPlan.define(FLOW, String.class);
        Node<String> pay = f.node("pay", c -> insert(c, "INSERT INTO paid VALUES (?)"))
                .retry(OUTAGE)
                .compensateWith((c, receipt) -> {
                    insert(c, "INSERT INTO undone VALUES (?, 'pay')");
                    pause(length);
                })
                .compensationRetry(OUTAGE);
        Node<String> hotel = f.node("hotel", pay, receipt -> receipt)
                .compensateWith((c, receipt) -> insert(c, "INSERT INTO undone VALUES (?, 'hotel')"))
                .compensationRetry(OUTAGE);
        List<Node<String>> seats =
                List.of(f.node("a", c -> "a"), f.node("b", c -> "b"), f.node("c", c -> "c"), f.node("d", c -> "d"));
        Node<List<String>> map = f.map("map", allOf(seats), seat -> {
            pause(length);
            return seat;
        });
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> first = inner.node("first", c -> pause(length));
        Node<String> nested =
                f.subflow("nested", inner.returning(inner.node("second", first, x -> pause(length))), pay);
        if (stop == Stop.FAIL_FAST) {
            f.node("fails", c -> {
                pause(length);
                pause(length);
                throw new IllegalStateException("no car");
            });
        }
        return f.returning(
                f.node("end", c -> pause(length.multipliedBy(2))).needs(order(hotel), order(map), order(nested)));
    }

    /** Pauses for up to twice the length, or until it is interrupted. */
    private static String pause(Duration length) throws InterruptedException {
        long nanos = ThreadLocalRandom.current().nextLong(2 * length.toNanos() + 1);
        return "ended early: " + new CountDownLatch(1).await(nanos, TimeUnit.NANOSECONDS);
    }

    private static String insert(NodeContext<?> context, String sql) throws SQLException {
        try (PreparedStatement insert = JdbcNodes.connection(context).prepareStatement(sql)) {
            insert.setString(1, (String) context.param());
            insert.executeUpdate();
        }
        return "receipt";
    }
}
