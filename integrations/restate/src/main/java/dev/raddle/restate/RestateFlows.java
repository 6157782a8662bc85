package dev.raddle.restate;

import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.restate.sdk.endpoint.definition.HandlerDefinition;
import dev.restate.sdk.endpoint.definition.HandlerType;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import dev.restate.sdk.endpoint.definition.ServiceType;
import java.util.List;
import java.util.Objects;

/**
 * Makes services of Restate from plans.
 *
 * {@snippet :
 * RestateHttpServer.listen(Endpoint.bind(RestateFlows.service("checkout", plan, codec)), 9080);
 * }
 *
 * <p>The service is a workflow with two handlers. {@code POST /checkout/order-17/run} runs the flow once for the key
 * {@code order-17}: the body is the parameter and the answer is the value, both in the encoding of the codec; an empty
 * body is null. If the run is FAILED, TIMED_OUT or CANCELLED, the answer is an error that explains it. {@code POST
 * /checkout/order-17/signal} with the header {@value #NODE_HEADER} delivers its body to a node that waits for a signal;
 * exactly one delivery succeeds.
 *
 * <p>The engine stores the result of each attempt of each action before a node that depends on it begins, and does not
 * run it again. An action may nevertheless run twice: if its process dies before the engine has stored its result, or
 * the engine dies before this is on its disk. So actions should be idempotent; the key of the run and the id of the
 * node are a good key for that.
 *
 * <p>Whenever a process continues a run, it repeats the decisions of the flow from the start with the stored results.
 * Therefore conditions, keys of groups, defaults, the elements of a {@code map} and the moments of sleeps must depend
 * on nothing but the parameter and the values of nodes; result callbacks are called again. A run does not continue with
 * a plan that has other nodes or dependencies than it began with: the engine shows an error that names them, and tries
 * again until it pauses the run. So serve a changed plan at a new address.
 *
 * <p>Cancelling the invocation cancels the nodes: their actions are interrupted, and the run is compensated.
 */
public final class RestateFlows {

    /** The header of a request to the handler "signal" that contains the id of the node. */
    public static final String NODE_HEADER = "raddle-node";

    private RestateFlows() {}

    /**
     * Returns a service that runs a flow, with default options.
     *
     * @param name the name of the service
     * @param plan the plan of each run
     * @param codec the codec for the parameter and the values of nodes
     * @return a definition, to be bound to an endpoint
     */
    public static ServiceDefinition service(String name, FlowPlan<?, ?> plan, FlowCodec codec) {
        return service(name, plan, codec, RestateOptions.defaults());
    }

    /**
     * Returns a service that runs a flow.
     *
     * @param name the name of the service
     * @param plan the plan of each run
     * @param codec the codec for the parameter and the values of nodes
     * @param options the options
     * @return a definition, to be bound to an endpoint; {@link ServiceDefinition#configure} sets its retention and the
     *     engine's retries
     */
    public static ServiceDefinition service(String name, FlowPlan<?, ?> plan, FlowCodec codec, RestateOptions options) {
        Objects.requireNonNull(name, "name");
        Values values = new Values(codec, options.maxValueBytes());
        AttemptRunner runs = new AttemptRunner(new FlowHandler<>(plan, values, options));
        AttemptRunner signals = new AttemptRunner(new SignalHandler(plan, values));
        return ServiceDefinition.of(
                        name,
                        ServiceType.WORKFLOW,
                        List.of(
                                HandlerDefinition.of("run", HandlerType.WORKFLOW, Bytes.SERDE, Bytes.SERDE, runs),
                                HandlerDefinition.of("signal", HandlerType.SHARED, Bytes.SERDE, Bytes.SERDE, signals)))
                .configure(service -> service.abortTimeout(options.longestCall()));
    }
}
