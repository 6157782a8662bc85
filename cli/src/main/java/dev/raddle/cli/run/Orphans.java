package dev.raddle.cli.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds processes that outlived a killed run. They must end before their tasks run again, otherwise a limit would be
 * exceeded or a command would run twice at once.
 */
final class Orphans {
    /** The number of consecutive readings that must show nothing new. */
    private static final int CLEAN_READS = 2;

    /** The maximum number of consecutive readings in which a process executes a new program. */
    private static final int MAX_READS = 1000;

    private final Past past;
    private final Duration grace;
    private final List<Thread> ending = new ArrayList<>();
    private final Set<String> seen = new HashSet<>();

    private Orphans(Past past, Duration grace) {
        this.past = past;
        this.grace = grace;
    }

    /**
     * Ends the processes that still run, and returns the number of trees. The process of an attempt is identified by
     * its process id and start; its descendants, including those of an undo and of an attempt that was not recorded, by
     * the token. Descendants of an attempt that ended are not touched.
     */
    static int terminate(Past past, Duration grace) throws InterruptedException {
        Orphans orphans = new Orphans(past, grace);
        past.open().forEach(orphans::end);
        orphans.endByTokens();
        for (Thread thread : orphans.ending) {
            thread.join();
        }
        return orphans.ending.size();
    }

    private void end(Past.Started process) {
        Optional<ProcessHandle> root = ProcessHandle.of(process.pid())
                .filter(handle -> handle.info()
                        .startInstant()
                        .filter(process.processStart()::equals)
                        .isPresent());
        String token = process.token();
        if (root.isPresent()) {
            end(token == null ? ProcessTree.of(root.get()) : ProcessTree.of(root.get(), token));
            if (token != null) {
                seen.add(token);
            }
        }
    }

    private void end(ProcessTree tree) {
        ending.add(Thread.ofVirtual().start(() -> tree.terminate(grace)));
    }

    private void endByTokens() {
        if (past.isEmpty()) {
            return;
        }
        int clean = 0;
        for (int reads = 0; clean < CLEAN_READS && reads < MAX_READS; reads++) {
            boolean settled = true;
            for (ProcessTable.Entry entry : ProcessTable.ALL.read()) {
                settled &= entry.settled();
                for (String token : entry.tokens().split(" ", -1)) {
                    if (past.isOpenToken(token) && seen.add(token)) {
                        settled = false;
                        end(ProcessTree.of(token));
                    }
                }
            }
            clean = settled ? clean + 1 : 0;
        }
    }
}
