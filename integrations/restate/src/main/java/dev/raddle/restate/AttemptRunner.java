package dev.raddle.restate;

import dev.restate.common.Slice;
import dev.restate.sdk.HandlerRunner;
import dev.restate.sdk.WorkflowContext;
import dev.restate.sdk.endpoint.definition.HandlerContext;
import dev.restate.serde.Serde;
import dev.restate.serde.SerdeFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs each attempt of a handler in a virtual thread. When the connection of an attempt to the engine ends, its threads
 * are interrupted.
 */
final class AttemptRunner implements dev.restate.sdk.endpoint.definition.HandlerRunner<byte[], byte[]> {

    /** What a handler does. */
    @FunctionalInterface
    interface Handler {

        /** Handles a request in one attempt, and returns the answer. */
        byte[] handle(WorkflowContext context, byte[] request, LocalCalls calls);
    }

    private static final HandlerRunner.Options ON_VIRTUAL_THREADS =
            HandlerRunner.Options.withExecutor(task -> Thread.ofVirtual().start(task));

    private final Handler handler;

    AttemptRunner(Handler handler) {
        this.handler = handler;
    }

    @Override
    public CompletableFuture<Slice> run(
            HandlerContext context, Serde<byte[]> in, Serde<byte[]> out, AtomicReference<Runnable> onClosed) {
        LocalCalls calls = new LocalCalls();
        onClosed.set(calls::close);
        HandlerRunner<byte[], byte[]> attempt = HandlerRunner.of(
                (WorkflowContext workflow, byte[] request) ->
                        calls.drive(() -> handler.handle(workflow, request, calls)),
                SerdeFactory.NOOP,
                ON_VIRTUAL_THREADS);
        return attempt.run(context, in, out, onClosed);
    }
}
