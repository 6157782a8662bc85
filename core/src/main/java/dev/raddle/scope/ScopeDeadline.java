package dev.raddle.scope;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A deadline of a scope, with the alarm that ends the scope then. Used only by the scope's {@link ScopeNode}. */
final class ScopeDeadline {

    final Deadline moment;
    final Duration budget; // from the moment at which the deadline was set
    private final ScopeNode node;
    private volatile @Nullable Alarm alarm; // written by the owner or by the thread that ends a withdrawal

    ScopeDeadline(ScopeNode node, Deadline moment, Duration length) {
        this.node = node;
        this.moment = moment;
        this.budget = length.isNegative() ? Duration.ZERO : length;
    }

    /** Arms the alarm, or ends the scope in the calling thread if the deadline has passed. */
    void arm() {
        if (moment.hasPassed()) {
            node.expire(this, Runnable::run);
        } else {
            alarm = moment.alarm(() -> node.tasks.offload().execute(() -> node.expire(this, node.tasks.offload())));
        }
    }

    void disarm() {
        Alarm set = alarm;
        if (set != null) {
            set.cancel();
            alarm = null;
        }
    }
}
