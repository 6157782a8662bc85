package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.AggregateException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class QuorumExampleTest {

    private final CountDownLatch bothAsked = new CountDownLatch(2);
    private final AtomicInteger cutOff = new AtomicInteger();

    private final Callable<String> silent = () -> {
        bothAsked.countDown();
        try {
            new CountDownLatch(1).await();
            return "never";
        } catch (InterruptedException cancelled) {
            cutOff.incrementAndGet();
            throw cancelled;
        }
    };
    private final Callable<String> broken = () -> {
        throw new IOException("disk full");
    };

    private Callable<String> once(CountDownLatch before, Callable<String> then) {
        return () -> {
            before.await();
            return then.call();
        };
    }

    @Test
    void a_write_succeeds_when_a_majority_has_it_and_the_others_are_cancelled() throws Exception {
        assertThat(QuorumExample.write(List.of(silent, once(bothAsked, () -> "b"), silent, () -> "d", () -> "e")))
                .containsExactlyInAnyOrder("b", "d", "e");
        assertThat(cutOff).hasValue(2);
    }

    @Test
    void a_write_fails_as_soon_as_a_majority_is_impossible() {
        assertThatThrownBy(() -> QuorumExample.write(List.of(silent, broken, once(bothAsked, broken), broken, silent)))
                .isInstanceOfSatisfying(
                        AggregateException.class,
                        failed -> assertThat(failed.failures())
                                .hasSize(3)
                                .allSatisfy(failure -> assertThat(failure).isInstanceOf(IOException.class)))
                .hasMessageContaining("3 of 5 failed, 3 needed");
        assertThat(cutOff).hasValue(2);
    }
}
