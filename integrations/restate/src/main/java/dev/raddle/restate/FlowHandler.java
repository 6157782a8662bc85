package dev.raddle.restate;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowStepper;
import dev.raddle.flow.RunOptions;
import dev.restate.sdk.WorkflowContext;

/**
 * The handler "run" of a flow.
 *
 * @param <P> the type of the parameter
 * @param <R> the type of the value
 */
final class FlowHandler<P, R> implements AttemptRunner.Handler {

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
    @SuppressWarnings("unchecked") // the caller of the service sends a parameter of the plan's type
    public byte[] handle(WorkflowContext context, byte[] request, LocalCalls calls) {
        P parameter = (P) values.decodeSent("the parameter of flow \"" + plan.name() + "\"", request);
        RunOptions run = options.run().withSavedContext(context.request().headers());
        FlowStepper<R> stepper = plan.stepper(parameter, run);
        return new FlowLoop<>(context, plan.name(), stepper, shape, values, options.groups(), calls).run();
    }
}
