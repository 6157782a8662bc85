package dev.raddle.examples;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * A shop calls two services for each request. One of them fails for a while: its breaker opens, and probes close it.
 * The calls of the other go on.
 */
public final class BreakerExample {

    private static final int REQUESTS = 25;

    /** Lets time pass between two requests. */
    @FunctionalInterface
    public interface Pause {
        /**
         * Returns after some time.
         *
         * @param length the time
         * @throws InterruptedException if the calling thread was interrupted
         */
        void sleep(Duration length) throws InterruptedException;
    }

    private BreakerExample() {}

    /**
     * Prints the answers to each request, and each change of a breaker, for two and a half seconds.
     *
     * @param args none
     * @throws Exception if a call fails unexpectedly
     */
    public static void main(String[] args) throws Exception {
        serve(TimeSource.system(), Thread::sleep, System.out::println);
    }

    /**
     * Serves one request after the other, every 100 ms. The service of the prices does not answer from the sixth to the
     * 17th.
     *
     * @param time the time source
     * @param pause the wait between two requests
     * @param out the receiver of the lines
     * @throws Exception if a call fails unexpectedly
     */
    public static void serve(TimeSource time, Pause pause, Consumer<String> out) throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .breaker(service -> CircuitBreaker.failureRate(0.5)
                        .over(10)
                        .atLeast(5)
                        .openFor(Duration.ofMillis(400)) // then 800 ms, if the first probe fails
                        .probes(2))
                .addListener(new TaskListener() {
                    @Override
                    public void onChanged(OwnerChange change) {
                        out.accept("    the breaker of " + change.owner() + " was " + change.before() + ", is "
                                + change.after());
                    }
                })
                .timeSource(time)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 1; i <= REQUESTS; i++) {
                int request = i;
                String stock = call(executor, "stock", () -> "3 left");
                String price = call(executor, "prices", () -> priceAt(request));
                out.accept(String.format(Locale.ROOT, "%2d  %s, %s", request, stock, price));
                pause.sleep(Duration.ofMillis(100));
            }
        }
    }

    private static String priceAt(int request) throws IOException {
        if (request >= 6 && request <= 17) {
            throw new IOException("no answer");
        }
        return "9.99 each";
    }

    /** Calls a service, and returns what its caller would see. */
    private static String call(GroupExecutor executor, String service, Callable<String> client) throws Exception {
        try {
            return executor.call(service, TaskSpec.named("call", client).timeout(Duration.ofSeconds(1)));
        } catch (RejectedTaskException rejected) {
            return "rejected, " + rejected.rejection().text();
        } catch (IOException failed) {
            return "failed: " + failed.getMessage();
        }
    }
}
