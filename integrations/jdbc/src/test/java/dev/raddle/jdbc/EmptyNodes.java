package dev.raddle.jdbc;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import java.sql.SQLException;
import java.util.Locale;

/** Counts how many empty nodes one worker executes and records in a second, on a server that forces its log to disk. */
final class EmptyNodes {
    private EmptyNodes() {}

    /** A chain: each node waits for the record of the one before. */
    private static FlowPlan<String, String> chain(int nodes) {
        FlowBuilder<String> f = FlowPlan.define("chain", String.class);
        Node<String> last = f.node("0", c -> "x");
        for (int i = 1; i < nodes; i++) {
            last = f.node(Integer.toString(i), last, value -> value);
        }
        return f.returning(last);
    }

    /** Returns the rate in words. */
    static String rate(String url, int runs, int nodes, int runsAtOnce) throws SQLException, InterruptedException {
        try (TestPool pool = new TestPool(url, 24);
                FlowService service = FlowService.on(pool)
                        .applySchema()
                        .register(chain(nodes), "1", FlowCodec.text())
                        .maxRuns(runsAtOnce)
                        .start()) {
            service.submit("chain", "warm", null);
            service.await("warm");
            long begin = System.nanoTime();
            for (int i = 0; i < runs; i++) {
                service.submit("chain", "chain-" + i, null);
            }
            for (int i = 0; i < runs; i++) {
                service.await("chain-" + i);
            }
            double seconds = (System.nanoTime() - begin) / 1e9;
            return String.format(
                    Locale.ROOT,
                    "%d runs of %d empty nodes in a row, %d runs at once: %.0f nodes/s",
                    runs,
                    nodes,
                    runsAtOnce,
                    runs * nodes / seconds);
        }
    }
}
