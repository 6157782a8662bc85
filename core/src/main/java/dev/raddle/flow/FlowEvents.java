package dev.raddle.flow;

import dev.raddle.kernel.GuardedListener;
import dev.raddle.kernel.Recorder;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the events of the nodes of one run to callbacks, the run's listener, and flight recordings. Their
 * exceptions go to the sink.
 */
final class FlowEvents {

    /** The identity of a node of this run, for the listener. */
    private static final class Identity implements TaskIdentity {
        /** The notifications that the listener has received. */
        private enum Stage {
            NEW,
            SUBMITTING, // onSubmitted is being called
            ENDED, // likewise, and the node has ended in the meantime
            SUBMITTED
        }

        private final RunFacts run;
        private final int node;
        final AtomicReference<Stage> stage = new AtomicReference<>(Stage.NEW);
        volatile long submitted; // the time of the submission
        Recorder.@Nullable Begun begun; // written by the runner while the node is Beginning

        Identity(RunFacts run, int node) {
            this.run = run;
            this.node = node;
        }

        @Override
        public String owner() {
            return run.graph.name;
        }

        @Override
        public String name() {
            return run.graph.ids[node];
        }

        @Override
        public String toString() {
            return "node \"" + name() + "\" of " + run.label();
        }
    }

    private final RunFacts run;
    private final @Nullable GuardedListener listener;
    private final @Nullable IntConsumer endings; // receives the nodes that have ended, after the callbacks
    private final Identity[] identities; // for the listener and recordings; empty if there are none

    FlowEvents(RunFacts run, @Nullable IntConsumer endings) {
        this.run = run;
        this.endings = endings;
        listener = GuardedListener.of(run.options.listener, run.sink, "flow");
        identities = new Identity[listener == null && !run.isRecorded ? 0 : run.graph.size];
        for (int node = 0; node < identities.length; node++) {
            identities[node] = new Identity(run, node);
        }
    }

    /**
     * Notifies the listener that a node is submitted, when it is triggered or ends without that, unless this was done.
     */
    void notifySubmitted(int node) {
        if (identities.length == 0) {
            return;
        }
        Identity identity = identities[node];
        if (identity.stage.compareAndSet(Identity.Stage.NEW, Identity.Stage.SUBMITTING)) {
            identity.submitted = run.now();
            GuardedListener notified = listener;
            if (notified != null) {
                inContext(() -> notified.onSubmitted(identity));
            }
            if (identity.stage.getAndSet(Identity.Stage.SUBMITTED) == Identity.Stage.ENDED) {
                notifySettled(node); // the thread that ended it left this to this thread, which the run waits for
            }
        }
    }

    /**
     * Notifies the listener, and then the begin callback, that an action is about to be entered. The listener is called
     * without the starter's context, and the callback with it.
     */
    void notifyStarted(int node, List<Consumer<? super NodeContext<?>>> callbacks) {
        if (identities.length > 0) {
            Identity identity = identities[node];
            identity.begun = run.isRecorded ? Recorder.begin() : null;
            if (listener != null) {
                listener.onStarted(identity, Math.max(0, run.now() - identity.submitted));
            }
        }
        if (!callbacks.isEmpty()) {
            inContext(() -> callEach("begin callback", node, callbacks, run.contextOf(node)));
        }
    }

    /**
     * Notifies of the end of a node.
     *
     * @param isSilent whether the result callback is not called: an earlier process called it
     */
    void notifyEnded(int node, boolean isSilent) {
        NodeOptions own = run.graph.options[node];
        if (own != null && !own.result.isEmpty() && !isSilent && !run.isLost()) { // another process will
            inContext(() -> callEach("result callback", node, own.result, run.states.report(node)));
        }
        if (identities.length > 0) {
            notifySubmitted(node);
            if (!identities[node].stage.compareAndSet(Identity.Stage.SUBMITTING, Identity.Stage.ENDED)) {
                notifySettled(node);
            }
        }
        if (endings != null) {
            endings.accept(node);
        }
    }

    private void notifySettled(int node) {
        Identity identity = identities[node];
        Outcome<?> outcome = run.states.outcome(node);
        if (listener != null) {
            listener.onSettled(identity, outcome, ranNanos(node));
        }
        if (run.isRecorded) {
            long began = run.states.startNanos(node);
            long until = began < 0 ? run.now() : began;
            Recorder.settled(
                    Recorder.OwnerKind.FLOW,
                    identity.owner(),
                    identity.name(),
                    outcome.status(),
                    Math.max(0, until - identity.submitted),
                    ranNanos(node),
                    identity.begun);
        }
    }

    private long ranNanos(int node) {
        long began = run.states.startNanos(node);
        return began < 0 ? 0 : Math.max(0, run.states.endNanos(node) - began);
    }

    private void inContext(Runnable action) {
        try {
            run.callInStarterContext(() -> {
                action.run();
                return this;
            });
        } catch (Throwable failure) {
            run.sink.report("context of flow \"" + run.graph.name + "\"", failure);
        }
    }

    private <X> void callEach(String what, int node, List<Consumer<? super X>> callbacks, X argument) {
        callbacks.forEach(callback -> run.guard(what, node, () -> callback.accept(argument)));
    }
}
