package dev.raddle.bench;

import dev.raddle.flow.FlowCodec;
import dev.raddle.restate.RestateFlows;
import dev.restate.sdk.HandlerRunner;
import dev.restate.sdk.WorkflowContext;
import dev.restate.sdk.endpoint.definition.HandlerDefinition;
import dev.restate.sdk.endpoint.definition.HandlerType;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import dev.restate.sdk.endpoint.definition.ServiceType;
import dev.restate.serde.Serde;
import dev.restate.serde.SerdeFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Timeout;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How many empty nodes per second does one worker execute and the engine Restate record, which forces its log to the
 * disk? The peer is a workflow with the same actions, written by hand with Restate's SDK. The benchmark fails unless
 * every node of one more run is found in the engine.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, "--enable-native-access=ALL-UNNAMED"})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Timeout(time = 2, timeUnit = TimeUnit.MINUTES)
public class DurableEngine {

    private static final String SERVICE = "chain";
    private static final Serde<String> TEXT = Serde.using(
            text -> text.getBytes(StandardCharsets.UTF_8), bytes -> new String(bytes, StandardCharsets.UTF_8));
    private static final HandlerRunner.Options ON_VIRTUAL_THREADS =
            HandlerRunner.Options.withExecutor(task -> Thread.ofVirtual().start(task));

    /** The duration of the measurement. */
    @Param("2")
    public int seconds;

    /** Raddle, one chain at a time. */
    @Benchmark
    public void raddleChain() throws Exception {
        measure(DurableEngine::raddle, 1);
    }

    /** Raddle, several chains at once. */
    @Benchmark
    public void raddleRuns() throws Exception {
        measure(DurableEngine::raddle, EmptyNodes.RUNS);
    }

    /** The SDK, one chain at a time. */
    @Benchmark
    public void sdkChain() throws Exception {
        measure(DurableEngine::sdk, 1);
    }

    /** The SDK, several chains at once. */
    @Benchmark
    public void sdkRuns() throws Exception {
        measure(DurableEngine::sdk, EmptyNodes.RUNS);
    }

    private static ServiceDefinition raddle(EmptyNodes nodes) {
        return RestateFlows.service(SERVICE, nodes.chain(), FlowCodec.text());
    }

    private static ServiceDefinition sdk(EmptyNodes nodes) {
        HandlerRunner<byte[], String> runner = HandlerRunner.of(
                (WorkflowContext context, byte[] nothing) -> chain(context, nodes),
                SerdeFactory.NOOP,
                ON_VIRTUAL_THREADS);
        return ServiceDefinition.of(
                SERVICE,
                ServiceType.WORKFLOW,
                List.of(HandlerDefinition.of("run", HandlerType.WORKFLOW, Serde.RAW, TEXT, runner)));
    }

    private static String chain(WorkflowContext context, EmptyNodes nodes) {
        String last = "";
        for (int i = 0; i < EmptyNodes.LENGTH; i++) {
            last = context.runAsync(Integer.toString(i), TEXT, nodes::execute).await();
        }
        return last;
    }

    private void measure(Function<EmptyNodes, ServiceDefinition> service, int runs) throws Exception {
        EmptyNodes nodes = new EmptyNodes();
        try (RestateProcess server = RestateProcess.start()) {
            server.serve(service.apply(nodes));
            nodes.measure(runs, seconds, id -> server.run(SERVICE, id));
            long before = nodes.executed();
            server.run(SERVICE, "checked");
            long executed = nodes.executed() - before;
            long stored = server.storedResults("checked");
            if (executed != EmptyNodes.LENGTH || stored < EmptyNodes.LENGTH) {
                throw new IllegalStateException(
                        stored + " results are stored, and " + executed + " actions were executed");
            }
        }
    }

    static List<Row> rows(Results results) {
        return List.of(
                row("nodes of a chain", rate(results, "raddleChain"), rate(results, "sdkChain")),
                row(
                        "nodes of " + EmptyNodes.RUNS + " chains at once",
                        rate(results, "raddleRuns"),
                        rate(results, "sdkRuns")));
    }

    private static Row row(String what, Stat measured, Stat sdk) {
        return Row.of("Restate: " + what, measured, EmptyNodes.UNIT).against("actions, by the SDK", sdk);
    }

    private static Stat rate(Results results, String method) {
        return results.note(EmptyNodes.RATE, "DurableEngine." + method);
    }
}
