package dev.raddle.jdbc;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.processes.WorkerJvm;
import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A process with a service whose flow halts it if the parameter says so. Arguments: url, name, runs to wait for,
 * maxRecoveries.
 */
final class DeadlyWorker {
    static final String FLOW = "deadly";

    private DeadlyWorker() {}

    /** A node that halts its process, beside innocent ones that are in the middle of their first claim then. */
    private static String act(NodeContext<String> context, CountDownLatch begun) throws InterruptedException {
        begun.countDown();
        begun.await();
        if (context.param().equals(context.id())) {
            Runtime.getRuntime().halt(9);
        }
        if (JdbcJournal.CURRENT.get().epoch() == 1) {
            new CountDownLatch(1).await(); // until the process is halted
        }
        return context.param();
    }

    static FlowPlan<String, String> plan(CountDownLatch begun) {
        FlowBuilder<String> f = FlowPlan.define(FLOW, String.class);
        Node<String> work = f.node("work", c -> act(c, begun));
        Node<String> retried = f.node("retried", c -> act(c, begun))
                .needs(work)
                .retry(RetryPolicy.attempts(2))
                .fallback(failure -> "instead, since " + failure.getMessage());
        return f.returning(retried);
    }

    public static void main(String[] arguments) throws Exception {
        TestPool pool = new TestPool(arguments[0], 24);
        FlowService.on(pool)
                .register(plan(new CountDownLatch(Integer.parseInt(arguments[2]))), "1", FlowCodec.text())
                .name(arguments[1])
                .maxRecoveries(Integer.parseInt(arguments[3]))
                .heartbeat(Duration.ofMillis(200), FlowWorker.MISSED)
                .pollInterval(Duration.ofMillis(50))
                .start();
        WorkerJvm.answer("ready");
        while (System.in.read() >= 0) {
            // until the parent ends
        }
        Runtime.getRuntime().halt(0);
    }
}
