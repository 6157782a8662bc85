package dev.raddle.jdbc;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.processes.Await;
import dev.raddle.processes.WorkerJvm;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * A process with a service whose runs fail and are undone, until it receives the command to exit.
 *
 * <p>Arguments: url, name, and whether the process pauses in the first compensation.
 */
final class UndoWorker {
    static final String FLOW = "booking";
    static final String TABLE = "CREATE TABLE undo (node text, worker text)";

    private static final Duration PAUSE = Duration.ofSeconds(3); // within which the parent stops the process

    private UndoWorker() {}

    static FlowPlan<String, String> plan(DataSource source, String worker, boolean pauses) {
        FlowBuilder<String> f = FlowPlan.define(FLOW, String.class);
        Node<String> flight = f.node("flight", c -> "flight").compensate(x -> undo(source, "flight", worker));
        Node<String> hotel = f.node("hotel", flight, x -> "hotel").compensate(x -> {
            undo(source, "hotel", worker);
            if (pauses) {
                WorkerJvm.answer("paused");
                Await.pass(PAUSE);
            }
        });
        return f.returning(f.node("car", hotel, x -> {
            throw new IllegalStateException("no car");
        }));
    }

    private static void undo(DataSource source, String node, String worker) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO undo VALUES (?, ?)")) {
            insert.setString(1, node);
            insert.setString(2, worker);
            insert.executeUpdate();
        }
    }

    public static void main(String[] arguments) throws Exception {
        TestPool pool = new TestPool(arguments[0], 16);
        FlowService service = FlowService.on(pool)
                .register(plan(pool, arguments[1], Boolean.parseBoolean(arguments[2])), "1", FlowCodec.text())
                .name(arguments[1])
                .heartbeat(Duration.ofMillis(250), 4)
                .pollInterval(Duration.ofMillis(100))
                .closeTimeout(Duration.ofSeconds(10))
                .start();
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
