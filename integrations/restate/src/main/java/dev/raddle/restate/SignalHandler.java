package dev.raddle.restate;

import dev.raddle.flow.FlowPlan;
import dev.restate.sdk.DurableFuture;
import dev.restate.sdk.WorkflowContext;
import dev.restate.sdk.common.DurablePromiseKey;
import dev.restate.sdk.common.TerminalException;
import org.jspecify.annotations.Nullable;

/** The handler "signal" of a flow: resolves the promise for which a node of the run waits, or will wait. */
final class SignalHandler implements AttemptRunner.Handler {

    private static final String PROMISES = "signal ";

    private final FlowPlan<?, ?> plan;
    private final Values values;

    SignalHandler(FlowPlan<?, ?> plan, Values values) {
        this.plan = plan;
        this.values = values;
    }

    static DurablePromiseKey<byte[]> promise(String node) {
        return DurablePromiseKey.of(PROMISES + node, Bytes.SERDE);
    }

    /**
     * Delivers a value, with the time, which the engine stores first, so that a repeated attempt delivers the same.
     *
     * @throws TerminalException if the request is wrong, or the node has a value already
     */
    @Override
    public byte[] handle(WorkflowContext context, byte[] value, LocalCalls calls) {
        String node = nodeOf(context);
        check(node, value);
        DurableFuture<byte[]> timed = context.runAsync("signal", Bytes.SERDE, () -> Timed.now(value));
        context.promiseHandle(promise(node)).resolve(timed.await());
        return new byte[0];
    }

    private static String nodeOf(WorkflowContext context) {
        String node = context.request().headers().get(RestateFlows.NODE_HEADER);
        if (node == null) {
            throw badRequest("the header " + RestateFlows.NODE_HEADER + " must have the id of the node");
        }
        return node;
    }

    private void check(String node, byte[] value) {
        Object decoded = values.decodeSent("the value for signal \"" + node + "\"", value);
        try {
            plan.checkSignal(node, decoded);
        } catch (IllegalArgumentException wrong) {
            throw badRequest(wrong.getMessage());
        }
    }

    private static TerminalException badRequest(@Nullable String message) {
        return new TerminalException(TerminalException.BAD_REQUEST_CODE, message);
    }
}
