package dev.raddle.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The rows of the report about pools. */
final class PoolRows {

    private PoolRows() {}

    /** Returns the rows of the time and of the CPU time of a task, compared with the fastest of the peers. */
    static List<Row> timeAndCpu(
            Results results,
            String method,
            String what,
            double bound,
            PoolPeer pool,
            List<PoolPeer> peers,
            String... params) {
        PoolPeer best = peers.stream()
                .min(Comparator.comparingDouble(
                        peer -> results.score(method, with(peer, params)).median()))
                .orElseThrow();
        return List.of(
                Row.of("time of " + what, results.score(method, with(pool, params)), "ns")
                        .against(best.label(), results.score(method, with(best, params)))
                        .ratioAtMost(bound),
                Row.of("CPU of " + what, results.note(Measured.CPU, method, with(pool, params)), "ns")
                        .against(best.label(), results.note(Measured.CPU, method, with(best, params))));
    }

    /** Returns the parameters, extended by the one that selects the peer. */
    static String[] with(PoolPeer peer, String... params) {
        List<String> all = new ArrayList<>(List.of(params));
        all.add("peer=" + peer);
        return all.toArray(String[]::new);
    }

    static String producers(String count) {
        return count.equals("1") ? "1 producer" : count + " producers";
    }
}
