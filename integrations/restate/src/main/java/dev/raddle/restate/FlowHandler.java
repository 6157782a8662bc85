package dev.raddle.restate;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowStepper;
import dev.restate.common.Slice;
import dev.restate.sdk.HandlerRunner;
import dev.restate.sdk.WorkflowContext;
import dev.restate.sdk.endpoint.definition.HandlerContext;
import dev.restate.serde.Serde;
import dev.restate.serde.SerdeFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The handler "run" of a flow. Each attempt of a run has its own threads, which are interrupted when its connection to
 * the engine ends.
 *
 * @param <P> the type of the parameter
 * @param <R> the type of the value
 */
final class FlowHandler<P, R> implements dev.restate.sdk.endpoint.definition.HandlerRunner<byte[], byte[]> {

    static final HandlerRunner.Options ON_VIRTUAL_THREADS =
            HandlerRunner.Options.withExecutor(task -> Thread.ofVirtual().start(task));

    private final FlowPlan<P, R> plan;
    private final PlanShape shape;
    private final Values values;
    private final RestateOptions options;

    FlowHandler(FlowPlan<P, R> plan, Values values, RestateOptions options) {
        this.plan = plan;
        this.shape = PlanShape.of(plan);
        this.values = values;
        this.options = options;
        plan.stepper(null, options.run()); // refuses options that do not fit
    }

    @Override
    public CompletableFuture<Slice> run(
            HandlerContext context, Serde<byte[]> in, Serde<byte[]> out, AtomicReference<Runnable> onClosed) {
        LocalCalls calls = new LocalCalls();
        onClosed.set(calls::close);
        HandlerRunner<byte[], byte[]> attempt = HandlerRunner.of(
                (WorkflowContext workflow, byte[] parameter) -> runFlow(workflow, parameter, calls),
                SerdeFactory.NOOP,
                ON_VIRTUAL_THREADS);
        return attempt.run(context, in, out, onClosed);
    }

    @SuppressWarnings("unchecked") // the caller of the service sends a parameter of the plan's type
    private byte[] runFlow(WorkflowContext workflow, byte[] sent, LocalCalls calls) {
        P parameter = (P) values.decodeSent("the parameter of flow \"" + plan.name() + "\"", sent);
        FlowStepper<R> stepper = plan.stepper(parameter, options.run());
        FlowLoop<R> loop = new FlowLoop<>(workflow, plan.name(), stepper, shape, values, options.groups(), calls);
        return calls.drive(loop::run);
    }
}
