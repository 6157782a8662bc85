package dev.raddle.cli.run;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Records events, and lets a test wait for one. */
final class Recorder implements RunListener {
    private final List<RunEvent> events = new CopyOnWriteArrayList<>();
    private final BlockingQueue<RunEvent> unseen = new LinkedBlockingQueue<>();

    @Override
    public void on(RunEvent event) {
        events.add(event);
        unseen.add(event);
    }

    List<RunEvent> events() {
        return events;
    }

    <T extends RunEvent> List<T> all(Class<T> kind) {
        return events.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    TaskResult result(String id) {
        return all(RunEvent.TaskEnded.class).stream()
                .map(RunEvent.TaskEnded::result)
                .filter(result -> result.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    /** Waits for the next event of a kind that matches, skipping others. */
    <T extends RunEvent> T await(Class<T> kind, Predicate<T> wanted) throws InterruptedException {
        while (true) {
            RunEvent event = unseen.poll(60, TimeUnit.SECONDS);
            if (event == null) {
                throw new AssertionError("no such event within a minute, only " + events);
            }
            if (kind.isInstance(event) && wanted.test(kind.cast(event))) {
                return kind.cast(event);
            }
        }
    }
}
