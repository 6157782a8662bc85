package dev.raddle.restate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.CallResult;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class LocalCallsTest {
    private final LocalCalls calls = new LocalCalls();

    @Test
    void a_cancel_interrupts_the_call_of_its_node_only() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch gate = new CountDownLatch(1);
        FutureTask<CallResult> wanted = start("wanted", () -> awaited(begun, gate));
        FutureTask<CallResult> unwanted = start("unwanted", () -> awaited(begun, new CountDownLatch(1)));
        begun.await();

        calls.cancel("unwanted");
        gate.countDown();

        assertThat(unwanted.get()).isEqualTo(new CallResult.Returned("interrupted"));
        assertThat(wanted.get()).isEqualTo(new CallResult.Returned("passed"));
    }

    @Test
    void an_interrupt_does_not_outlive_the_call() {
        CallResult result = calls.call("a", () -> {
            calls.cancel("a");
            return new CallResult.Returned("ignored the interrupt");
        });

        assertThat(result).isEqualTo(new CallResult.Returned("ignored the interrupt"));
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void a_call_that_was_cancelled_before_it_began_is_not_made() {
        calls.cancel("a");

        CallResult result = calls.call("a", () -> new CallResult.Returned("made"));

        assertThat(result).isInstanceOf(CallResult.Failed.class);
    }

    @Test
    void closing_interrupts_the_driver_and_all_calls() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        FutureTask<CallResult> call = start("a", () -> awaited(begun, new CountDownLatch(1)));
        FutureTask<CallResult> driver = start(() -> calls.drive(() -> awaited(begun, new CountDownLatch(1))));
        begun.await();

        calls.close();

        assertThat(call.get()).isEqualTo(new CallResult.Returned("interrupted"));
        assertThat(driver.get()).isEqualTo(new CallResult.Returned("interrupted"));
        assertThat(calls.isClosed()).isTrue();
    }

    private FutureTask<CallResult> start(String node, Supplier<CallResult> function) {
        return start(() -> calls.call(node, function));
    }

    private static FutureTask<CallResult> start(Supplier<CallResult> task) {
        FutureTask<CallResult> future = new FutureTask<>(task::get);
        Thread.ofVirtual().start(future);
        return future;
    }

    private static CallResult awaited(CountDownLatch begun, CountDownLatch gate) {
        begun.countDown();
        try {
            gate.await();
            return new CallResult.Returned("passed");
        } catch (InterruptedException e) {
            return new CallResult.Returned("interrupted");
        }
    }
}
