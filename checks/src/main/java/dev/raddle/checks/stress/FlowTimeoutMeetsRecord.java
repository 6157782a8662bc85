package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowJournal;
import dev.raddle.flow.MemoryJournal;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * The deadline of a run passes while its first node ends and is recorded: it is recorded as a success if and only if it
 * is one, and is compensated then, since the second node never ends by itself.
 */
@JCStressTest
@Outcome(id = "free, true, SUCCESS, 1", expect = ACCEPTABLE, desc = "it ended first, is recorded and compensated")
@Outcome(id = "free, false, TIMED_OUT, 0", expect = ACCEPTABLE, desc = "it was timed out first, and is not recorded")
@Outcome(id = "interrupted, .*", expect = FORBIDDEN, desc = "the interrupt stayed with the thread")
@Outcome(expect = FORBIDDEN, desc = "the journal and the run contradict each other, or the run never ended")
@State
public class FlowTimeoutMeetsRecord {

    private final AtomicInteger undone = new AtomicInteger();
    private final MemoryJournal journal = FlowJournal.inMemory();
    private final FlowRig rig = new FlowRig(
            f -> {
                f.node("node", () -> 1).compensate(value -> undone.incrementAndGet());
                f.sleep("last", Duration.ofDays(1));
            },
            options -> options.withJournal(journal));

    @Actor
    public void run(LLLL_Result result) {
        result.r1 = rig.runNext();
    }

    @Actor
    public void expire() {
        rig.expire();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        rig.end();
        result.r2 = journal.entries().stream()
                .anyMatch(entry ->
                        entry instanceof Entry.NodeEnded end && end.id().equals("node") && end.isSuccess());
        result.r3 = rig.run.state("node");
        result.r4 = undone.get();
    }
}
