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
        String node = nodeOf(context.request().headers().get(RestateFlows.NODE_HEADER));
        values.decodeSent("the value for signal \"" + node + "\"", value);
        DurableFuture<byte[]> timed = context.runAsync("signal", Bytes.SERDE, () -> Timed.now(value));
        context.promiseHandle(promise(node)).resolve(timed.await());
        return new byte[0];
    }

    /** Checks and returns the id of a node. Of a subflow's node only the part that is a node of this plan is known. */
    private String nodeOf(@Nullable String node) {
        if (node == null) {
            throw new TerminalException(
                    TerminalException.BAD_REQUEST_CODE,
                    "the header " + RestateFlows.NODE_HEADER + " must have the id of the node");
        }
        String top = node.contains("/") ? node.substring(0, node.indexOf('/')) : node;
        if (plan.nodes().stream()
                .noneMatch(each -> each.id().equals(node) || each.id().equals(top))) {
            throw new TerminalException(
                    TerminalException.BAD_REQUEST_CODE, "flow \"" + plan.name() + "\" has no node \"" + node + "\"");
        }
        return node;
    }
}
