package dev.raddle.scope;

import dev.raddle.task.CancellationToken;
import dev.raddle.task.CancelledException;
import dev.raddle.time.Signal;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** The cancellation token of a scope. It is cancelled when the scope is closed to further tasks. */
final class ScopeToken implements CancellationToken {

    private final ScopeNode node;
    private final Signal cancelled = new Signal();
    private @Nullable Set<Channel<?>> channels; // weak: an unreachable channel has no waiters; guarded by this

    ScopeToken(ScopeNode node) {
        this.node = node;
    }

    @Override
    public boolean isCancelled() {
        return node.tasks.pending.isClosed();
    }

    @Override
    public void throwIfCancelled() {
        CancelledException cause = node.tasks.pending.closeCause();
        if (cause != null) {
            throw cause;
        }
    }

    @Override
    public void cancel(String reason) {
        node.cancel(reason);
    }

    @Override
    public Registration whenCancelled(Runnable action) {
        Registration made = cancelled.whenSet(() -> node.tasks.guard("action of a cancellation token", action))::run;
        ScopeNode running = ScopeNode.ofTaskOfCaller();
        return running == null ? made : running.tasks.endingWithTask(made);
    }

    /** Fails the channels and runs the registered actions. Called when the scope was closed to further tasks. */
    void runActions() {
        failChannels();
        cancelled.set();
    }

    /** Adds a channel that fails when the scope is cancelled, unless it is closed or unreachable then. */
    void add(Channel<?> channel) {
        synchronized (this) {
            if (channels == null) {
                channels = Collections.newSetFromMap(new WeakHashMap<>());
            }
            channels.add(channel);
        }
        if (isCancelled()) {
            failChannels(); // the cancelling thread may have done it before
        }
    }

    /** Fails the open channels if the scope is cancelled. */
    void failChannels() {
        RuntimeException reason = node.tasks.pending.closeException();
        List<Channel<?>> all;
        synchronized (this) {
            all = channels == null ? List.of() : List.copyOf(channels);
        }
        if (reason != null) {
            all.forEach(channel -> channel.failIfOpen(reason));
        }
    }

    @Override
    public String toString() {
        return "token of scope \"" + node.tasks.name + "\"" + (isCancelled() ? ", cancelled" : "");
    }
}
