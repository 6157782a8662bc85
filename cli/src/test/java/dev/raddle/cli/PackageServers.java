package dev.raddle.cli;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.Schedule;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;

/**
 * Real servers for the packages of the command, which {@code ./dev dist-check} unpacks and uses. The arguments are the
 * number of databases and a file, which gets the address of Redis and of each database when all are ready. A database
 * has a run {@code failed} that has ended, a run {@code waiting} that nobody begins, and a schedule {@code rarely}. The
 * servers end with the standard input.
 */
final class PackageServers {
    private PackageServers() {}

    public static void main(String[] args) throws Exception {
        try (LocalRedis redis = LocalRedis.start(null);
                LocalPostgres postgres = LocalPostgres.start()) {
            StringBuilder addresses = new StringBuilder(redis.uri()).append('\n');
            for (int i = 0; i < Integer.parseInt(args[0]); i++) {
                String database = postgres.newDatabase();
                fill(postgres, database);
                addresses.append(postgres.url("postgres", database)).append('\n');
            }
            Files.writeString(Path.of(args[1]), addresses);
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private static void fill(LocalPostgres postgres, String database) throws Exception {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        FlowPlan<String, String> order = f.returning(f.node("ship", c -> {
            throw new IOException("no van");
        }));
        try (FlowService worker = postgres.service(database)
                .register(order, "1", FlowCodec.text())
                .start()) {
            worker.submit("order", "failed", "");
            worker.await("failed");
            worker.schedule("rarely", order, Schedule.cron("0 0 29 2 *", ZoneOffset.UTC), moment -> "");
        }
        postgres.execute(database, "INSERT INTO raddle_run (id, flow, version) VALUES ('waiting', 'order', '1')");
    }
}
