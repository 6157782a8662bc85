package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import java.time.Instant;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** A subtask forks while the owner closes the scope: the forked subtask has ended when close returns, or never runs. */
@JCStressTest
@Outcome(id = "ended before", expect = ACCEPTABLE, desc = "the fork came first; close waited for it")
@Outcome(id = "never ran", expect = ACCEPTABLE, desc = "the close came first")
@Outcome(expect = FORBIDDEN, desc = "it outlived its scope")
@State
public class ScopeForkMeetsClose {

    private final StructuredScopeOptions options = StructuredScopeOptions.defaults();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean go;
    private volatile String outcome = "never ran";

    @Actor
    public void close() {
        try (var scope = new StructuredTaskScope<Object>(options)) {
            scope.fork(() -> {
                while (!go) {
                    Thread.onSpinWait();
                }
                return scope.fork(this::run);
            });
            scope.joinUntil(Instant.MIN);
        } catch (TimeoutException expected) {
            // the attempt to join allows close
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
        closed.set(true);
    }

    private Object run() {
        outcome = closed.get() ? "outlived it" : "ended before";
        return "done";
    }

    @Actor
    public void fork() {
        go = true;
    }

    @Arbiter
    public void check(L_Result result) {
        result.r1 = outcome;
    }
}
