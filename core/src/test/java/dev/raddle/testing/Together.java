package dev.raddle.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs actions at the same time. */
public final class Together {

    private Together() {}

    /** Runs actions concurrently, each in a separate platform thread, and returns when all have ended normally. */
    public static void together(List<? extends Callable<?>> actions) throws Exception {
        CyclicBarrier start = new CyclicBarrier(actions.size());
        List<Future<?>> ends = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(actions.size());
        try {
            for (Callable<?> action : actions) {
                ends.add(threads.submit(() -> {
                    start.await();
                    return action.call();
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            threads.shutdownNow(); // an action that hangs must not prevent the failure of the test
        }
    }
}
