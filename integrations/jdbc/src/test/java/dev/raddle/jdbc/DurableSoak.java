package dev.raddle.jdbc;

import dev.raddle.processes.PostgresServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * Kills worker processes at random moments, for {@code ./dev soak durable}.
 *
 * <p>Arguments: the number of kills, 200 if left out; a seed; the version of PostgreSQL, the newest if left out.
 */
final class DurableSoak {
    private static final int RUNS_FOR_A_KILL = 10;
    private static final int BOOKINGS_FOR_A_KILL = 4; // of each kind of stop
    private static final int WORKERS = 3;
    private static final double STOPS = 0.1; // besides the kills
    private static final Duration OUTAGE = Duration.ofSeconds(10);

    private DurableSoak() {}

    public static void main(String[] arguments) throws Exception {
        int kills = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200;
        long seed = arguments.length > 1
                ? Long.parseLong(arguments[1])
                : RandomGenerator.getDefault().nextInt(1_000_000);
        ServerKind kind = ServerKind.all().stream()
                .filter(each -> arguments.length > 2 && each.version().startsWith(arguments[2]))
                .findFirst()
                .orElseGet(ServerKind::newest);
        boolean good;
        try (PostgresServer server = kind.start()) {
            System.out.println("seed " + seed + ", " + kind + ", " + kills + " kills of " + WORKERS + " workers");
            measure(server);
            good = run(server, kills, seed);
        }
        System.out.println(good ? "good" : "BAD");
        System.exit(good ? 0 : 1);
    }

    private static void measure(PostgresServer server) throws Exception {
        create(server, "one");
        System.out.println(EmptyNodes.rate(server.url("one"), 1, 500, 1));
        create(server, "many");
        System.out.println(EmptyNodes.rate(server.url("many"), 200, 20, 32));
    }

    private static void create(PostgresServer server, String database) throws Exception {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + database);
        }
    }

    private static boolean run(PostgresServer server, int kills, long seed) throws Exception {
        create(server, "kills");
        long begin = System.nanoTime();
        try (KillRun run = new KillRun(server.url("kills"), seed, WORKERS, Map.of())) {
            while (run.kills() < kills) {
                run.submit(RUNS_FOR_A_KILL);
                run.book(BOOKINGS_FOR_A_KILL);
                run.round();
                run.fault(STOPS);
                if (run.kills() == kills / 2 && run.outages() == 0) {
                    run.outage(server, OUTAGE);
                }
                if (run.kills() % 20 == 0) {
                    System.out.println((System.nanoTime() - begin) / 1_000_000_000 + " s: " + run.report());
                }
            }
            boolean ended = run.awaitEnds(Duration.ofMinutes(3));
            System.out.println(run.report());
            List<String> violations = run.violations();
            violations.forEach(each -> System.out.println("violation: " + each));
            System.out.println((ended ? "all runs have ended" : "NOT all runs have ended") + ", " + violations.size()
                    + " violations");
            return ended && violations.isEmpty();
        }
    }
}
