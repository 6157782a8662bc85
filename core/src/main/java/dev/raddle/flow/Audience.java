package dev.raddle.flow;

import dev.raddle.kernel.Recorder;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Those who hear of the nodes of one run: callbacks of nodes, the run's listener, and flight recordings. What they throw goes to
 * the sink.
 */
final class Audience {

    /** A node of this run, for the listener. */
    private static final class Identity implements TaskIdentity {
        /** What the listener has heard. */
        private enum Stage {
            UNHEARD,
            SUBMITTING, // it is being told
            ENDED, // likewise, and the node has ended meanwhile
            SUBMITTED
        }

        private final Engine run;
        private final int node;
        final AtomicReference<Stage> stage = new AtomicReference<>(Stage.UNHEARD);
        volatile long submitted; // when
        Recorder.@Nullable Begun begun; // written by the runner before its step out of Beginning

        Identity(Engine run, int node) {
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

    private final Engine run;
    private final @Nullable TaskListener listener;
    private final Identity[] identities; // for the listener and recordings; empty if there are none

    Audience(Engine run) {
        this.run = run;
        listener = run.options.listener;
        identities = new Identity[listener == null && !run.isRecorded ? 0 : run.graph.size];
        for (int node = 0; node < identities.length; node++) {
            identities[node] = new Identity(run, node);
        }
    }

    /** Has the listener hear that a node is ready, or that it has ended without, unless it has heard of it. */
    void submitted(int node) {
        if (identities.length == 0) {
            return;
        }
        Identity told = identities[node];
        if (told.stage.compareAndSet(Identity.Stage.UNHEARD, Identity.Stage.SUBMITTING)) {
            told.submitted = run.now();
            if (listener != null) {
                inContext(() -> tell(node, hearer -> hearer.onSubmitted(told)));
            }
            if (told.stage.getAndSet(Identity.Stage.SUBMITTED) == Identity.Stage.ENDED) {
                settled(node); // who ended it has left that to this thread, which the run waits for
            }
        }
    }

    /**
     * Has the listener, and then the begin callback, hear that an action will be entered now. The listener is called before the
     * starter's context is in force, and the callback in it.
     */
    void started(int node, @Nullable Consumer<? super NodeContext<?>> callback) {
        if (identities.length > 0) {
            Identity told = identities[node];
            told.begun = run.isRecorded ? Recorder.begin() : null;
            tell(node, hearer -> hearer.onStarted(told, Math.max(0, run.now() - told.submitted)));
        }
        if (callback != null) {
            inContext(() -> callEach("begin callback", node, callback, run.contextOf(node)));
        }
    }

    void ended(int node) {
        NodeOptions own = run.graph.options[node];
        if (own != null && own.result() != null && run.board.via(node) != Via.JOURNAL) {
            Consumer<? super NodeReport<?>> callback = own.result();
            inContext(() -> callEach("result callback", node, callback, run.board.report(node)));
        }
        if (identities.length > 0) {
            submitted(node);
            if (!identities[node].stage.compareAndSet(Identity.Stage.SUBMITTING, Identity.Stage.ENDED)) {
                settled(node);
            }
        }
    }

    private void settled(int node) {
        Identity told = identities[node];
        Outcome<?> outcome = run.board.outcome(node);
        tell(node, hearer -> hearer.onSettled(told, outcome, ranNanos(node)));
        if (run.isRecorded) {
            long began = run.board.startNanos(node);
            long until = began < 0 ? run.now() : began;
            Recorder.settled(
                    told.owner(),
                    told.name(),
                    outcome.status(),
                    Math.max(0, until - told.submitted),
                    ranNanos(node),
                    told.begun);
        }
    }

    private void tell(int node, Consumer<TaskListener> event) {
        if (listener != null) {
            run.guard("listener", node, () -> event.accept(listener));
        }
    }

    private long ranNanos(int node) {
        long began = run.board.startNanos(node);
        return began < 0 ? 0 : Math.max(0, run.board.endNanos(node) - began);
    }

    private void inContext(Runnable action) {
        try {
            run.carry(() -> {
                action.run();
                return this;
            });
        } catch (Throwable failure) {
            run.options.sink.report("context of flow \"" + run.graph.name + "\"", failure);
        }
    }

    @SuppressWarnings("unchecked") // two callbacks hear the same
    <X> void callEach(String what, int node, Consumer<? super X> callback, X heard) {
        if (callback instanceof NodeOptions.Both<?> both) {
            callEach(what, node, (Consumer<? super X>) both.first(), heard);
            callEach(what, node, (Consumer<? super X>) both.second(), heard);
        } else {
            run.guard(what, node, () -> callback.accept(heard));
        }
    }
}
