package dev.raddle.console;

import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import java.time.Instant;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The times and errors of the nodes of one run, which the run reports only when it has ended. */
final class NodeTimes implements TaskListener {

    /** What is known of a node. */
    record Times(
            @Nullable Instant startedAt,
            @Nullable Instant endedAt,
            @Nullable String error) {}

    private static final Times UNKNOWN = new Times(null, null, null);

    private final String flow;
    private final Failures failures;
    private final ConcurrentHashMap<String, Times> byNode = new ConcurrentHashMap<>();

    NodeTimes(String flow, Failures failures) {
        this.flow = flow;
        this.failures = failures;
    }

    @Override
    public void onStarted(TaskIdentity node, long waitNanos) {
        byNode.put(node.name(), new Times(Instant.now(), null, null));
    }

    @Override
    public void onSettled(TaskIdentity node, Outcome<?> outcome, long runNanos) {
        Instant now = Instant.now();
        String error = switch (outcome) {
            case Outcome.Failure<?> failure -> Failures.lineOf(failure.error());
            case Outcome.Cancelled<?> cancelled -> Failures.lineOf(cancelled.cause());
            default -> null;
        };
        byNode.put(node.name(), new Times(of(node.name()).startedAt, now, error));
        if (outcome instanceof Outcome.Failure<?> failure) {
            failures.add(flow, flow, failure.error(), now.toEpochMilli());
        }
    }

    Times of(String node) {
        return byNode.getOrDefault(node, UNKNOWN);
    }
}
