package dev.raddle.redis;

import dev.raddle.processes.WorkerJvm;
import io.lettuce.core.RedisURI;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One process of a fleet under test. It obeys commands on its standard input, which ends when the process that
 * started it does, and answers each with one line.
 *
 * <pre>
 * load A B      keeps all threads busy with tasks of random groups that take A to B permits
 * idle          waits until these have ended
 * hold N        waits for a permit of group N and holds it
 * drop          ends all held tasks
 * state         says what the worker knows of its permits
 * exit          closes the fleet and ends
 * </pre>
 */
final class FleetWorker {

    /*
     * Overview.
     *
     * Each thread runs one task after the other. A task enters the shared file, presents its fencing number if the
     * limit is 1, takes a little time, and leaves the file, also when it is interrupted. Another thread measures
     * how long the process did not run: it looks at the clock every millisecond, and a gap is a stall.
     */

    private static final long LOOK_EVERY_NANOS = 1_000_000;

    private final Map<String, String> arguments;
    private final PeakFile file;
    private final int slot;
    private final int groups;
    private final long taskNanos;
    private final RedisFleet fleet;
    private final FencedExecutor executor;
    private final Phaser loadThreads = new Phaser(1);
    private final Phaser held = new Phaser(1);
    private volatile boolean loading;
    private volatile CountDownLatch drop = new CountDownLatch(1);

    private FleetWorker(Map<String, String> arguments) {
        this.arguments = arguments;
        groups = number("groups");
        slot = number("slot");
        taskNanos = number("taskMicros") * 1_000L;
        file = PeakFile.open(Path.of(text("file")), groups);
        Duration lease = Duration.ofMillis(number("leaseMillis"));
        FleetOptions.Builder options = FleetOptions.builder()
                .namespace(text("namespace"))
                .lease(lease)
                .slice(Duration.ofMillis(number("sliceMillis")))
                .instanceName("worker-" + slot);
        if (arguments.containsKey("frozenClock")) {
            options.timeSource(new FrozenTime());
        }
        fleet = RedisFleet.connect(RedisURI.create(text("uri")), options.build());
        executor = new FencedExecutor(fleet);
        Thread.ofPlatform().daemon().name("stalls").start(() -> measureStalls(lease.toNanos() / 25));
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, String> map = new HashMap<>();
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            map.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        new FleetWorker(map).obey();
    }

    private String text(String name) {
        String value = arguments.get(name);
        if (value == null) {
            throw new IllegalArgumentException("no argument " + name);
        }
        return value;
    }

    private int number(String name) {
        return Integer.parseInt(text(name));
    }

    private void obey() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        WorkerJvm.answer("ready");
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "load" -> load(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
                case "idle" -> idle();
                case "hold" -> hold(Integer.parseInt(words[1]));
                case "drop" -> drop();
                case "state" -> WorkerJvm.answer("state " + fleet + ", " + fleet.stats() + ", " + executor);
                case "exit" -> {
                    exit();
                    return;
                }
                default -> throw new IllegalArgumentException(line);
            }
        }
        Runtime.getRuntime().halt(1); // the harness is gone
    }

    /** Returns the moment in an answer, in nanoseconds. */
    static long momentOf(String answer) {
        return Long.parseLong(answer.split(" ")[1]);
    }

    /** Returns the fencing number in an answer. */
    static long fenceOf(String answer) {
        return Long.parseLong(answer.split(" ")[2]);
    }

    private void load(int fewest, int most) {
        loading = true;
        int threads = number("threads");
        for (int i = 0; i < threads; i++) {
            int thread = i;
            loadThreads.register();
            Thread.ofVirtual().start(() -> runTasks(thread, fewest, most));
        }
        WorkerJvm.answer("loading");
    }

    private void idle() {
        loading = false;
        int phase = loadThreads.arrive();
        try {
            loadThreads.awaitAdvanceInterruptibly(phase, 20, TimeUnit.SECONDS);
        } catch (TimeoutException | InterruptedException late) { // shows what the tasks wait for
            System.err.println("not idle: " + fleet + ", " + fleet.stats() + ", " + executor);
            loadThreads.awaitAdvance(phase);
        }
        file.publish(slot, fleet.stats());
        WorkerJvm.answer("idle");
    }

    private void runTasks(int thread, int fewest, int most) {
        Random random = new Random(Long.parseLong(text("seed")) * 1_000 + thread);
        try {
            while (loading) {
                runOne(thread, random.nextInt(groups), random.nextInt(fewest, most + 1));
            }
        } finally {
            loadThreads.arriveAndDeregister();
        }
    }

    private void runOne(int thread, int group, int permits) {
        long begin = System.nanoTime();
        AtomicInteger entered = new AtomicInteger();
        try {
            executor.run(key(group), permits, fence -> {
                long waited = System.nanoTime() - begin;
                runInside(group, permits, fence);
                entered.incrementAndGet();
                file.completed(slot, thread, waited);
            });
        } catch (InterruptedException e) {
            file.interrupted(slot);
        }
    }

    private void runInside(int group, int permits, long fence) throws InterruptedException {
        for (int i = 0; i < permits; i++) {
            file.enter(slot, group);
        }
        try {
            if (file.limit(group) == 1) {
                file.guard(slot, group, fence);
            }
            LockSupport.parkNanos(taskNanos);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        } finally {
            for (int i = 0; i < permits; i++) {
                file.leave(slot, group);
            }
        }
    }

    private void hold(int group) {
        CountDownLatch latch = drop;
        held.register();
        Thread.ofVirtual().start(() -> {
            try {
                executor.run(key(group), 1, fence -> holdInside(group, fence, latch));
            } catch (InterruptedException e) {
                WorkerJvm.answer("interrupted " + System.nanoTime());
            } finally {
                held.arriveAndDeregister();
            }
        });
    }

    private void holdInside(int group, long fence, CountDownLatch latch) throws InterruptedException {
        file.enter(slot, group);
        try {
            WorkerJvm.answer("entered " + System.nanoTime() + " " + fence);
            latch.await();
        } finally {
            file.leave(slot, group);
        }
    }

    private void drop() {
        long moment = System.nanoTime();
        drop.countDown();
        drop = new CountDownLatch(1);
        held.arriveAndAwaitAdvance();
        WorkerJvm.answer("dropped " + moment);
    }

    private void exit() {
        file.publish(slot, fleet.stats());
        executor.close();
        fleet.close();
        WorkerJvm.answer("closed");
    }

    static String key(int group) {
        return "group-" + group;
    }

    private void measureStalls(long shortest) {
        for (long last = System.nanoTime(); ; ) {
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
            long now = System.nanoTime();
            if (now - last > shortest) {
                file.stalled(slot, last, now);
            }
            last = now;
            file.publish(slot, fleet.stats());
        }
    }
}
