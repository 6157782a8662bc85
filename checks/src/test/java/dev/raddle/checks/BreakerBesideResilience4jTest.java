package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.internal.CircuitBreakerStateMachine;
import io.github.resilience4j.core.IntervalFunction;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Random sequences of calls, one after the other, through a breaker of a group and through one of Resilience4j: they
 * admit the same calls and change their states with the same calls. Left out is what differs on purpose, which is in
 * docs/coming-from/resilience4j.md: if there are several probes, all are good, and there are
 * no more of them than the least number of calls; no call comes at the very moment of
 * the first probe.
 */
class BreakerBesideResilience4jTest {

    private static final int SEQUENCES = 100_000;
    private static final int CALLS = 24;
    private static final int OPEN = 1_000; // ms; not a multiple of 3, unlike the times between calls

    /** A clock with the time of both breakers, in milliseconds. */
    private static final class Millis extends Clock {

        private long now;

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return Instant.ofEpochMilli(now);
        }
    }

    private final VirtualTime time = new VirtualTime();
    private final Millis clock = new Millis();
    private final List<String> ours = new ArrayList<>();
    private final List<String> theirs = new ArrayList<>();
    private int opened;
    private int closed;

    private void advance(int millis) {
        time.advance(Duration.ofMillis(millis));
        clock.now += millis;
    }

    @Test
    void sequences_of_calls_change_the_states_of_both_in_the_same_way() {
        long first = System.nanoTime();
        System.out.println("BreakerBesideResilience4jTest: seeds " + first + " + 0 to " + (SEQUENCES - 1));
        for (int i = 0; i < SEQUENCES; i++) {
            compare(first + i);
        }
        assertThat(opened).as("openings").isGreaterThan(SEQUENCES / 10);
        assertThat(closed).as("closings").isGreaterThan(SEQUENCES / 10);
    }

    private void compare(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int threshold = random.nextInt(1, 9); // in eighths, which both calculate exactly
        int slowThreshold = random.nextInt(1, 9);
        int window = random.nextInt(1, 9);
        int least = random.nextInt(1, 11);
        int probes = random.nextInt(1, Math.min(least, 3) + 1);
        int bad = random.nextInt(2, 8); // of ten
        CircuitBreaker plan = CircuitBreaker.failureRate(threshold / 8.0)
                .over(window)
                .atLeast(least)
                .slowerThan(Duration.ofMillis(100), slowThreshold / 8.0)
                .openFor(Duration.ofMillis(OPEN))
                .maxOpen(Duration.ofMillis(4 * OPEN))
                .probes(probes);
        CircuitBreakerConfig config = CircuitBreakerConfig.custom()
                .failureRateThreshold(threshold * 12.5f)
                .slidingWindowType(CircuitBreakerConfig.SlidingWindowType.COUNT_BASED)
                .slidingWindowSize(window)
                .minimumNumberOfCalls(least)
                .slowCallDurationThreshold(Duration.ofMillis(100))
                .slowCallRateThreshold(slowThreshold * 12.5f)
                .waitIntervalFunctionInOpenState(
                        IntervalFunction.ofExponentialBackoff(Duration.ofMillis(OPEN), 2, Duration.ofMillis(4 * OPEN)))
                .permittedNumberOfCallsInHalfOpenState(probes)
                .clock(clock)
                .build();
        io.github.resilience4j.circuitbreaker.CircuitBreaker peer = new CircuitBreakerStateMachine("peer", config);
        ours.clear();
        theirs.clear();
        peer.getEventPublisher()
                .onStateTransition(
                        event -> theirs.add(word(event.getStateTransition().getFromState()) + " > "
                                + word(event.getStateTransition().getToState())));
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = GroupPolicy.builder()
                .scheduler(key -> steps)
                .closeTimeout(Duration.ZERO)
                .timeSource(time)
                .breaker(key -> plan)
                .addListener(new TaskListener() {
                    @Override
                    public void onChanged(OwnerChange change) {
                        ours.add(change.before() + " > " + change.after());
                    }
                })
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < CALLS; i++) {
                advance(random.nextInt(4) == 0 ? 300 + random.nextInt(5) * 999 : 3);
                boolean isAdmitted = peer.tryAcquirePermission();
                boolean isProbe = word(peer.getState()).equals("half-open");
                boolean mayBeBad = !isProbe || probes == 1;
                boolean fails = mayBeBad && random.nextInt(10) < bad;
                int millis = mayBeBad && random.nextInt(10) < bad ? 151 : 51;
                int before = steps.size();
                TaskHandle<String> handle = executor.submit("a", TaskSpec.named("call", () -> {
                    advance(millis);
                    if (fails) {
                        throw new IOException("down");
                    }
                    return "good";
                }));
                assertThat(steps.size() > before)
                        .as("seed %d, call %d is admitted", seed, i)
                        .isEqualTo(isAdmitted);
                steps.runAll();
                assertThat(handle.isDone()).isTrue();
                if (isAdmitted && fails) {
                    peer.onError(millis, TimeUnit.MILLISECONDS, new IOException("down"));
                } else if (isAdmitted) {
                    peer.onSuccess(millis, TimeUnit.MILLISECONDS);
                }
                assertThat(ours).as("seed %d, after call %d", seed, i).isEqualTo(theirs);
            }
        }
        opened += ours.contains("closed > open") ? 1 : 0;
        closed += ours.contains("half-open > closed") ? 1 : 0;
    }

    private static String word(io.github.resilience4j.circuitbreaker.CircuitBreaker.State state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
