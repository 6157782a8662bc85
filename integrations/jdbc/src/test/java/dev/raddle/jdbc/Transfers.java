package dev.raddle.jdbc;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.processes.Await;
import dev.raddle.task.RetryPolicy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/**
 * A flow that moves money between accounts of the same database, and writes down every attempt of a node, so that a
 * judge can find out what ran twice.
 */
final class Transfers {
    static final String FLOW = "transfer";
    static final int ACCOUNTS = 16;
    static final int INITIAL = 1_000;

    static final String SCHEDULE = "rounds";

    /** Has no moment while a test runs: the judge makes the rounds due. */
    static final Schedule RARELY = Schedule.cron("0 0 29 2 *", ZoneOffset.UTC);

    static final String TABLES = "CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL);"
            + " INSERT INTO account SELECT i, " + INITIAL + " FROM generate_series(0, " + (ACCOUNTS - 1) + ") i;"
            + " CREATE TABLE attempt (run_id text, node text, epoch bigint, worker text, again boolean)";

    /* An attempt that begins after a claim which could read the end of the node must not happen. */
    private static final String ATTEMPT = "INSERT INTO attempt SELECT ?, ?, ?, ?, EXISTS (SELECT 1 FROM raddle_entry"
            + " WHERE run_id = ? AND node = ? AND kind = 'NODE' AND epoch < ?)";

    private static final RetryPolicy OUTAGE = RetryPolicy.fixedDelay(200, Duration.ofMillis(200));

    /** What an attempt does at some points. */
    interface Points {
        void at(String node, String point);
    }

    private final DataSource source;
    private final String worker;
    private final Duration length;
    private final Points points;

    Transfers(DataSource source, String worker, Duration length, Points points) {
        this.source = source;
        this.worker = worker;
        this.length = length;
        this.points = points;
    }

    static String parameter(int from, int to, int amount) {
        return from + " " + to + " " + amount;
    }

    /** Returns the parameter of a round: one from an account to the next. */
    static String parameterAt(Instant moment) {
        int from = (int) (moment.getEpochSecond() % ACCOUNTS);
        return parameter(from, (from + 1) % ACCOUNTS, 1);
    }

    private static int number(NodeContext<String> context, int index) {
        return Integer.parseInt(context.param().split(" ")[index]);
    }

    /** Check, then debit and credit at the same time, then a receipt. */
    FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define(FLOW, String.class);
        Node<String> check = f.node("check", c -> {
            attempt("check");
            return "checked " + c.param();
        });
        Node<String> debit = f.node("debit", check, (c, checked) -> move(c, 0, -1));
        Node<String> credit = f.node("credit", check, (c, checked) -> move(c, 1, 1));
        Node<String> receipt = f.node("receipt", debit, credit, (minus, plus) -> {
            attempt("receipt");
            return minus + " " + plus;
        });
        for (Node<String> each : List.of(check, debit, credit, receipt)) {
            each.retry(OUTAGE); // for the statements on connections of their own
        }
        return f.returning(receipt);
    }

    static String receipt(int from, int to, int amount) {
        return from + " " + -amount + " " + to + " " + amount;
    }

    private String move(NodeContext<String> context, int side, int sign) throws SQLException {
        attempt(context.id());
        int account = number(context, side);
        int amount = sign * number(context, 2);
        Connection connection = JdbcNodes.connection(context);
        points.at(context.id(), "connected");
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE account SET balance = balance + ? WHERE id = ?")) {
            update.setInt(1, amount);
            update.setInt(2, account);
            update.executeUpdate();
        }
        points.at(context.id(), "moved");
        return account + " " + amount;
    }

    private void attempt(String node) throws SQLException {
        JdbcJournal journal = JdbcJournal.CURRENT.get();
        try (Connection connection = source.getConnection();
                PreparedStatement insert = connection.prepareStatement(ATTEMPT)) {
            insert.setString(1, journal.runId());
            insert.setString(2, node);
            insert.setLong(3, journal.epoch());
            insert.setString(4, worker);
            insert.setString(5, journal.runId());
            insert.setString(6, node);
            insert.setLong(7, journal.epoch());
            insert.executeUpdate();
        }
        points.at(node, "begun");
        if (length.isPositive()) {
            Await.pass(
                    length.multipliedBy(ThreadLocalRandom.current().nextInt(20)).dividedBy(10));
        }
    }
}
