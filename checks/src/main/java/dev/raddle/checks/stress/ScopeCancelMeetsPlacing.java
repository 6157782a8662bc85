package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A scope is cancelled while its task is placed in a full group: the task does not stay in the group's queue. */
@JCStressTest
@Outcome(id = "0, 0, CANCELLED, 0", expect = ACCEPTABLE, desc = "it left the queue, or never entered it")
@Outcome(id = "[1-9], .*", expect = FORBIDDEN, desc = "a cancelled task waits in the group's queue")
@Outcome(expect = FORBIDDEN, desc = "it ran, or its scope still counts it as running")
@State
public class ScopeCancelMeetsPlacing {

    private final StepScheduler steps = new StepScheduler();
    private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(1)
            .timeSource(new VirtualTime())
            .scheduler(key -> steps)
            .build());
    private final TaskHandle<Integer> holder = executor.submit("a", "holder", () -> 0);
    private final ThreadScope scope = ScopeRig.open().withScheduler(executor.scheduler("a"));
    private final AtomicInteger ran = new AtomicInteger();
    private volatile Task<Integer> task;

    @Actor
    public void submit() {
        task = scope.submit(ran::incrementAndGet);
    }

    @Actor
    public void cancel() {
        scope.cancel("for the test");
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r1 = executor.stats().totalQueuedCount();
        steps.runAll();
        result.r2 = holder.isDone() ? ran.get() : "the holder never ended";
        result.r3 = task.state().toString();
        result.r4 = scope.metrics().running();
    }
}
