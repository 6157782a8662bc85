package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.scope.ScopeMetrics;
import dev.raddle.scope.ThreadScope;
import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * Two threads submit a task each, with which ended tasks are unlinked from the scope's list, while a third one reads
 * the metrics: each ended task is counted once, whether it is listed or not.
 */
@JCStressTest
@Outcome(id = "63, 0, 63 of 65", expect = ACCEPTABLE, desc = "every ended task was counted once")
@Outcome(expect = FORBIDDEN, desc = "one was counted twice or not at all")
@State
public class ScopeListMeetsMetrics {

    private static final int ENDED = 63; // one less than the length at which a scope looks for ended tasks

    private final ScopeRig rig = new ScopeRig();
    private final AtomicReference<ScopeMetrics> read = new AtomicReference<>();

    public ScopeListMeetsMetrics() {
        ThreadScope scope = rig.scope;
        for (int i = 0; i < ENDED; i++) {
            scope.submit(() -> "");
        }
        rig.steps.runAll();
    }

    @Actor
    public void submit() {
        rig.scope.submit(() -> "");
    }

    @Actor
    public void submitAnother() {
        rig.scope.submit(() -> "");
    }

    @Actor
    public void read() {
        read.set(rig.scope.metrics());
    }

    @Arbiter
    public void check(LLL_Result result) {
        ScopeMetrics during = read.get();
        ScopeMetrics end = rig.scope.metrics();
        result.r1 = during.succeeded();
        result.r2 = during.running();
        result.r3 = end.succeeded() + " of " + end.submitted();
    }
}
