package dev.raddle.cli.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Finds processes that outlived a killed run. They must end before their tasks run again, or a limit would be exceeded
 * and a command run twice at once.
 */
final class Orphans {
    private Orphans() {}

    /** Ends those that still run, and tells how many that were. A process is known by its id and when it began. */
    static int terminate(Collection<Journal.Started> started, Duration grace) throws InterruptedException {
        List<Thread> ending = new ArrayList<>();
        for (Journal.Started process : started) {
            ProcessHandle.of(process.pid())
                    .filter(handle -> handle.info()
                            .startInstant()
                            .filter(process.born()::equals)
                            .isPresent())
                    .map(ProcessTree::new)
                    .ifPresent(tree -> ending.add(Thread.ofVirtual().start(() -> tree.terminate(grace))));
        }
        for (Thread thread : ending) {
            thread.join();
        }
        return ending.size();
    }
}
