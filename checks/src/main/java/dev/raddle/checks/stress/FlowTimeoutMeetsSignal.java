package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowJournal;
import dev.raddle.flow.MemoryJournal;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** A signal is delivered while its node times out: it is accepted if and only if the node ends with it. */
@JCStressTest
@Outcome(id = "true, true, SUCCESS", expect = ACCEPTABLE, desc = "the signal was first")
@Outcome(id = "false, false, TIMED_OUT", expect = ACCEPTABLE, desc = "the timeout was first")
@Outcome(expect = FORBIDDEN, desc = "accepted without effect, refused with an effect, or recorded although refused")
@State
public class FlowTimeoutMeetsSignal {

    private static final Duration TIMEOUT = Duration.ofNanos(FlowRig.LIMIT.toNanos() / 2);

    private final MemoryJournal journal = FlowJournal.inMemory();
    private final FlowRig rig =
            new FlowRig(f -> f.signal("ok", String.class).timeout(TIMEOUT), options -> options.withJournal(journal));

    public FlowTimeoutMeetsSignal() {
        rig.runNext(); // the node waits now
    }

    @Actor
    public void signal(LLL_Result result) {
        result.r1 = rig.run.signal("ok", "yes");
    }

    @Actor
    public void expire() {
        rig.time.advance(TIMEOUT);
    }

    @Arbiter
    public void check(LLL_Result result) {
        rig.end();
        result.r2 = journal.entries().stream().anyMatch(entry -> entry instanceof Entry.SignalReceived);
        result.r3 = rig.run.state("ok");
    }
}
