package dev.raddle.jdbc;

import dev.raddle.processes.Await;
import dev.raddle.processes.PostgresServer;
import dev.raddle.processes.WorkerJvm;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Worker processes that run transfers and bookings while they are killed and stopped at random moments, which are drawn
 * from a seed.
 */
final class KillRun implements AutoCloseable {
    private static final int HEARTBEAT_MILLIS = 250;
    private static final int RUNS_AT_ONCE = 8;

    /** Longer than the heartbeats of a stopped worker may be missing. */
    private static final Duration BEYOND_LEASE = Duration.ofMillis(HEARTBEAT_MILLIS * (FlowWorker.MISSED + 2L));

    private static final String MAKER =
            "SELECT picked_by FROM raddle_task WHERE picked AND task_instance = '" + Transfers.SCHEDULE + "'";

    private static final String ROUNDS_DUE = "SELECT count(*) FROM raddle_schedule WHERE next_at <= now()";

    private final TestPool pool;
    private final String url;
    private final Map<String, String> options; // of all workers
    private final FlowService client;
    private final Random random;
    private final List<WorkerJvm> workers = new ArrayList<>();
    private final Map<String, String> receipts = new HashMap<>(); // expected, by run
    private final long[] expected = new long[Transfers.ACCOUNTS];
    private final Instant beforeRounds =
            Instant.now().truncatedTo(ChronoUnit.SECONDS).minus(Duration.ofDays(1));
    private int rounds;
    private int faultsInRounds;
    private int bookings;
    private int started;
    private int kills;
    private int stops;
    private int outages;

    KillRun(String url, long seed, int workerCount, Map<String, String> options) throws SQLException {
        this.url = url;
        this.options = options;
        random = new Random(seed);
        pool = new TestPool(url, 8);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(Transfers.TABLES);
            statement.execute(Bookings.TABLES);
        }
        new Schema(new Database(pool)).apply();
        client = FlowService.on(pool).name("client").start();
        Arrays.fill(expected, Transfers.INITIAL);
        for (int i = 0; i < workerCount; i++) {
            workers.add(startWorker(Map.of()));
        }
        workers.forEach(WorkerJvm::awaitReady);
    }

    WorkerJvm startWorker(Map<String, String> more) {
        Map<String, String> arguments = new LinkedHashMap<>();
        arguments.put("url", url);
        arguments.put("name", "worker-" + ++started);
        arguments.put("heartbeat", Integer.toString(HEARTBEAT_MILLIS));
        arguments.put("length", "20");
        arguments.put("runs", Integer.toString(RUNS_AT_ONCE));
        arguments.putAll(options);
        arguments.putAll(more);
        List<String> words = arguments.entrySet().stream()
                .map(argument -> argument.getKey() + "=" + argument.getValue())
                .toList();
        return WorkerJvm.start(arguments.get("name"), FlowWorker.class, words);
    }

    /** Starts a worker that takes part in faults. */
    WorkerJvm addWorker(Map<String, String> more) {
        WorkerJvm worker = startWorker(more);
        workers.add(worker);
        return worker.awaitReady();
    }

    List<WorkerJvm> workers() {
        return workers;
    }

    /** Submits runs, as a client without workers of its own does. */
    void submit(int count) throws SQLException {
        for (int i = 0; i < count; i++) {
            int from = random.nextInt(Transfers.ACCOUNTS);
            int to = (from + 1 + random.nextInt(Transfers.ACCOUNTS - 1)) % Transfers.ACCOUNTS;
            int amount = 1 + random.nextInt(100);
            String id = "run-" + receipts.size();
            byte[] parameter = Transfers.parameter(from, to, amount).getBytes(StandardCharsets.UTF_8);
            try (Connection connection = pool.getConnection()) {
                RunTable.submit(connection, id, Transfers.FLOW, "1", parameter, Map.of());
            }
            receipts.put(id, Transfers.receipt(from, to, amount));
            expected[from] -= amount;
            expected[to] += amount;
        }
    }

    /** Makes a round of the schedule due, when the one before was submitted. */
    void round() throws SQLException {
        Await.until("the round before is submitted", () -> number(ROUNDS_DUE) == 0);
        Instant moment = beforeRounds.plusSeconds(++rounds);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE raddle_schedule SET next_at = '" + moment + "'");
            statement.execute("UPDATE raddle_task SET execution_time = now() - interval '1 second'"
                    + " WHERE task_instance = '" + Transfers.SCHEDULE + "' AND NOT picked");
        }
        int from = (int) (moment.getEpochSecond() % Transfers.ACCOUNTS);
        int to = (from + 1) % Transfers.ACCOUNTS;
        receipts.put(Transfers.SCHEDULE + "/" + moment, Transfers.receipt(from, to, 1));
        expected[from]--;
        expected[to]++;
    }

    /** Submits runs to be undone, of each kind of stop, and cancels those that are to be cancelled. */
    void book(int ofEachKind) throws SQLException {
        List<String> cancelled = new ArrayList<>();
        for (int i = 0; i < ofEachKind; i++) {
            for (Bookings.Stop stop : Bookings.Stop.values()) {
                String id = book(stop);
                if (stop == Bookings.Stop.CANCEL) {
                    cancelled.add(id);
                }
            }
        }
        for (String id : cancelled) {
            Await.pass(Duration.ofMillis(random.nextInt(200 / ofEachKind)));
            cancel(id);
        }
    }

    String book(Bookings.Stop stop) throws SQLException {
        String id = "booking-" + ++bookings;
        try (Connection connection = pool.getConnection()) {
            RunTable.submit(connection, id, Bookings.FLOW, stop.name(), id.getBytes(StandardCharsets.UTF_8), Map.of());
        }
        return id;
    }

    void cancel(String id) {
        client.cancel(id, "no longer wanted");
    }

    /** Kills or stops a worker at a random moment, the one that makes a round if there is one. */
    void fault(double stopShare) {
        Await.pass(Duration.ofMillis(50 + random.nextInt(250)));
        int victim = random.nextInt(workers.size());
        String maker = text(MAKER);
        for (int i = 0; i < workers.size(); i++) {
            if (workers.get(i).name().equals(maker)) {
                victim = i;
                faultsInRounds++;
            }
        }
        WorkerJvm worker = workers.get(victim);
        if (random.nextDouble() < stopShare) {
            stops++;
            worker.stop();
            Await.pass(BEYOND_LEASE);
            worker.proceed();
        } else {
            kills++;
            worker.kill();
            workers.set(victim, startWorker(Map.of()).awaitReady());
        }
    }

    int kills() {
        return kills;
    }

    int outages() {
        return outages;
    }

    /** Kills the server and starts it again later. */
    void outage(PostgresServer server, Duration length) {
        outages++;
        server.crash();
        Await.pass(length);
        server.restart();
        pool.close(); // its connections are broken
    }

    /** Waits until all runs have ended. Returns false if they do not. */
    boolean awaitEnds(Duration bound) {
        return Await.within(
                bound,
                () -> number(ROUNDS_DUE) + number("SELECT count(*) FROM raddle_run WHERE ended_at IS NULL") == 0);
    }

    /** Returns all that is wrong, in words; empty if nothing is. */
    List<String> violations() {
        List<String> wrong = new ArrayList<>();
        int runs = receipts.size();
        String transfers = " FROM raddle_run WHERE flow = '" + Transfers.FLOW + "'";
        String entries = " FROM raddle_entry WHERE run_id IN (SELECT id" + transfers + ") AND kind = ";
        expect(wrong, "runs", runs, "SELECT count(*)" + transfers);
        expect(wrong, "runs without success", 0, "SELECT count(*)" + transfers + " AND status <> 'SUCCESS'");
        expect(wrong, "records of ends", runs, "SELECT count(*)" + entries + "'ENDED'");
        expect(wrong, "runs with a record of the end", runs, "SELECT count(DISTINCT run_id)" + entries + "'ENDED'");
        expect(wrong, "records of nodes", 4L * runs, "SELECT count(*)" + entries + "'NODE'");
        expect(wrong, "recorded nodes", 4L * runs, "SELECT count(DISTINCT (run_id, node))" + entries + "'NODE'");
        expect(wrong, "recorded nodes that ran again", 0, "SELECT count(*) FROM attempt WHERE again");
        for (int account = 0; account < Transfers.ACCOUNTS; account++) {
            expect(
                    wrong,
                    "balance of account " + account,
                    expected[account],
                    "SELECT balance FROM account WHERE id = " + account);
        }
        for (Map.Entry<String, String> each : receipts.entrySet()) {
            String found =
                    text("SELECT convert_from(value, 'UTF8') FROM raddle_run WHERE id = '" + each.getKey() + "'");
            if (!each.getValue().equals(found)) {
                wrong.add(each.getKey() + " has the value " + found + " instead of " + each.getValue());
            }
        }
        addWrongBookings(wrong);
        return wrong;
    }

    /** Compares what the bookings have written in their transactions with the ends of the runs and with the journal. */
    private void addWrongBookings(List<String> wrong) {
        expect(
                wrong,
                "bookings that have ended",
                bookings,
                "SELECT count(*) FROM raddle_run WHERE flow = '" + Bookings.FLOW
                        + "' AND status IN ('SUCCESS', 'FAILED', 'TIMED_OUT', 'CANCELLED')");
        String twice = " HAVING count(*) > 1) twice";
        expect(
                wrong,
                "nodes undone twice",
                0,
                "SELECT count(*) FROM (SELECT FROM undone GROUP BY run_id, node" + twice);
        expect(wrong, "runs paid twice", 0, "SELECT count(*) FROM (SELECT FROM paid GROUP BY run_id" + twice);
        expect(
                wrong,
                "runs ended twice",
                0,
                "SELECT count(*) FROM (SELECT FROM raddle_entry WHERE kind = 'ENDED' GROUP BY run_id" + twice);
        expect(
                wrong,
                "records of undoings",
                number("SELECT count(*) FROM undone"),
                "SELECT count(*) FROM raddle_entry WHERE kind = 'COMPENSATED'");
        expect(
                wrong,
                "payments of stopped runs that were not undone",
                0,
                "SELECT count(*) FROM paid p JOIN raddle_run r ON r.id = p.run_id WHERE r.status <> 'SUCCESS'"
                        + " AND NOT EXISTS (SELECT FROM undone u WHERE u.run_id = p.run_id AND u.node = 'pay')");
        expect(
                wrong,
                "undoings of successful runs",
                0,
                "SELECT count(*) FROM undone u JOIN raddle_run r ON r.id = u.run_id WHERE r.status = 'SUCCESS'");
    }

    String report() {
        return receipts.size() + " runs, " + rounds + " of them rounds of a schedule, " + faultsInRounds
                + " faults of a worker that makes one, " + kills + " kills, " + stops
                + " stops, " + outages
                + " outages of the database, "
                + text("SELECT count(*) FROM attempt") + " attempts of " + 4 * receipts.size() + " nodes, "
                + bookings + " bookings, "
                + text("SELECT string_agg(n || ' ' || status, ', ' ORDER BY status) FROM (SELECT status, count(*) n"
                        + " FROM raddle_run WHERE flow = '" + Bookings.FLOW + "' GROUP BY status) s")
                + ", "
                + text("SELECT count(*) FROM undone") + " undoings, "
                + text("SELECT sum(epoch) FROM raddle_run") + " claims, at most "
                + text("SELECT max(epoch) FROM raddle_run") + " of a run";
    }

    private void expect(List<String> wrong, String what, long number, String sql) {
        long found = number(sql);
        if (found != number) {
            wrong.add(what + ": " + found + " instead of " + number);
        }
    }

    /** Returns the number that a query finds. */
    long number(String sql) {
        return Long.parseLong(text(sql));
    }

    private String text(String sql) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : null;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        workers.forEach(WorkerJvm::kill);
        client.close();
        pool.close();
    }
}
