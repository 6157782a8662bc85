package dev.raddle.jdbc;

import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.Await;
import dev.raddle.processes.WorkerJvm;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;

/**
 * A process with a service that runs transfers and bookings, until it receives the command to exit.
 *
 * <p>Arguments: url, name, heartbeat in milliseconds, length of a node in milliseconds, runs at a time; optionally a
 * seeded bug, and node:point at which the process says so and pauses, once.
 */
final class FlowWorker {
    static final int MISSED = 4;
    private static final Duration PAUSE = Duration.ofSeconds(3); // within which the parent stops the process

    private FlowWorker() {}

    private static String parameterOfRound(ZonedDateTime moment) {
        Await.pass(Duration.ofMillis(ThreadLocalRandom.current().nextInt(100))); // so that kills happen meanwhile
        return Transfers.parameterAt(moment.toInstant());
    }

    public static void main(String[] words) throws Exception {
        Map<String, String> arguments = new HashMap<>();
        for (String word : words) {
            arguments.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
        }
        String name = arguments.get("name");
        String pause = arguments.getOrDefault("pause", "");
        boolean[] hasPaused = new boolean[1];
        Transfers.Points points = (node, point) -> {
            if (pause.equals(node + ":" + point)) {
                synchronized (hasPaused) {
                    if (hasPaused[0]) {
                        return;
                    }
                    hasPaused[0] = true;
                }
                WorkerJvm.answer("paused");
                Await.pass(PAUSE);
            }
        };
        UnaryOperator<String> bug = SeededBug.named(arguments.get("bug"));
        UnaryOperator<String> rewriting = sql -> {
            if (sql.contains("pg_current_xact_id()::text = ?")) {
                points.at("any", "recording");
            }
            if (sql.equals("COMMIT")) {
                points.at("any", "committing");
            }
            return bug.apply(sql);
        };
        int runs = Integer.parseInt(arguments.get("runs"));
        TestPool pool = new TestPool(arguments.get("url"), 2 * runs + 8, rewriting);
        Duration length = Duration.ofMillis(Long.parseLong(arguments.get("length")));
        Transfers transfers = new Transfers(pool, name, length, points);
        FlowService.Builder builder = FlowService.on(pool);
        for (Bookings.Stop stop : Bookings.Stop.values()) {
            builder.register(Bookings.plan(stop, length), stop.name(), FlowCodec.text(), stop.options);
        }
        FlowPlan<String, String> plan = transfers.plan();
        FlowService service = builder.register(plan, "1", FlowCodec.text(), RunOptions.defaults())
                .name(name)
                .maxRuns(runs)
                .heartbeat(Duration.ofMillis(Long.parseLong(arguments.get("heartbeat"))), MISSED)
                .pollInterval(Duration.ofMillis(100))
                .closeTimeout(Duration.ofSeconds(10))
                .start();
        if (pause.isEmpty()) { // a pause is for a run
            service.schedule(Transfers.SCHEDULE, plan, Transfers.RARELY, FlowWorker::parameterOfRound);
        }
        WorkerJvm.answer("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null; ) {
            if (line.equals("exit")) {
                service.close();
                WorkerJvm.answer("closed");
                return;
            }
        }
        Runtime.getRuntime().halt(0); // the parent is gone
    }
}
