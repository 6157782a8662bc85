package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.AggregateException;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HedgedReadExampleTest {

    private static final Duration HEDGE = Duration.ofMillis(50);

    private final VirtualTime time = new VirtualTime();
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch cutOff = new CountDownLatch(1);

    private String never() throws InterruptedException {
        asked.countDown();
        try {
            new CountDownLatch(1).await();
            return "never";
        } catch (InterruptedException cancelled) {
            cutOff.countDown();
            throw cancelled;
        }
    }

    private static String notAsked() {
        throw new AssertionError("asked although another had answered");
    }

    @Test
    void a_replica_that_answers_at_once_is_the_only_one_asked() throws Exception {
        assertThat(HedgedReadExample.read(
                        List.<Callable<String>>of(() -> "near", HedgedReadExampleTest::notAsked), HEDGE, time))
                .isEqualTo("near");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void the_next_replica_is_asked_after_the_hedge_delay_and_the_slow_one_is_cancelled() throws Exception {
        List<Callable<String>> replicas = List.of(this::never, () -> "far", HedgedReadExampleTest::notAsked);
        try (ThreadScope scope = ThreadScope.open()) {
            Task<String> read = scope.submit("read", () -> HedgedReadExample.read(replicas, HEDGE, time));
            asked.await();
            time.awaitAlarms(1);

            time.advance(HEDGE);

            assertThat(read.await()).isEqualTo("far");
        }
        assertThat(cutOff.getCount()).isZero();
    }

    @Test
    void a_replica_that_fails_is_followed_at_once() throws Exception {
        Callable<String> broken = () -> {
            throw new IOException("connection reset");
        };

        assertThat(HedgedReadExample.read(List.of(broken, () -> "far"), HEDGE, time))
                .isEqualTo("far");
        assertThatThrownBy(() -> HedgedReadExample.read(List.of(broken, broken), HEDGE, time))
                .isInstanceOf(AggregateException.class);
    }
}
