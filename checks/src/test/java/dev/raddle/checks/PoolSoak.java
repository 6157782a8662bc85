package dev.raddle.checks;

import dev.raddle.pool.PoolBuilder;
import dev.raddle.pool.ShutdownReport;
import dev.raddle.pool.ThreadPool;
import dev.raddle.pool.ThreadPool.RunState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** Uses one pool from several threads at random, and checks the outcome of each of its tasks. */
final class PoolSoak {

    /**
     * The parameters of a soak.
     *
     * @param name the name
     * @param rules the settings of the pool
     * @param badThreads the percentage of attempts to create a thread that fail
     */
    record Setting(String name, UnaryOperator<PoolBuilder> rules, int badThreads) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** The outcome of a submission, as its driver sees it. */
    private enum Submission {
        ACCEPTED,
        REJECTED,
        REMOVED
    }

    private static final int DRIVERS = 4;
    private static final int MOST_THREADS = 6;

    private final Setting setting;
    private final ThreadPool pool;
    private final List<List<Job>> jobs = new ArrayList<>(); // of each driver
    private final Collection<Runnable> returned = new ConcurrentLinkedQueue<>();
    private final Collection<String> violations = new ConcurrentLinkedQueue<>();

    PoolSoak(Setting setting, long seed) {
        this.setting = setting;
        pool = setting.rules()
                .apply(ThreadPool.builder("soak").maxThreads(3).threadFactory(badFactory(seed)))
                .build();
    }

    private ThreadFactory badFactory(long seed) {
        Random random = new Random(seed);
        return task -> {
            int luck;
            synchronized (random) {
                luck = random.nextInt(100);
            }
            if (luck < setting.badThreads() / 2) {
                return null;
            }
            if (luck < setting.badThreads()) {
                throw new OutOfThreads();
            }
            return Thread.ofPlatform()
                    .uncaughtExceptionHandler((thread, failure) -> check(failure))
                    .unstarted(task);
        };
    }

    private static final class OutOfThreads extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private static final class Expected extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private void check(Throwable failure) {
        if (!(failure instanceof Expected) && !(failure instanceof OutOfThreads)) {
            violations.add("uncaught: " + failure);
        }
    }

    private final class Job implements Runnable {
        final int kind;
        final AtomicInteger runs = new AtomicInteger();
        Submission submission = Submission.REJECTED; // written by its driver

        Job(int kind) {
            this.kind = kind;
        }

        @Override
        public void run() {
            runs.incrementAndGet();
            if (Thread.currentThread().isInterrupted() && pool.runState().compareTo(RunState.STOP) < 0) {
                violations.add("a task began with the interrupt of another task");
            }
            if (kind == 0) {
                throw new Expected();
            }
            if (kind == 1) {
                Thread.currentThread().interrupt(); // left behind
            }
        }
    }

    /** Performs the given number of operations, shuts the pool down in use, and checks the counts. */
    void run(int operations, long seed) throws InterruptedException {
        Random random = new Random(seed);
        int endAt = random.nextInt(operations / DRIVERS);
        boolean endsEarly = random.nextBoolean();
        List<Thread> drivers = new ArrayList<>();
        for (int i = 0; i < DRIVERS; i++) {
            List<Job> mine = new ArrayList<>();
            jobs.add(mine);
            long own = random.nextLong();
            int end = i == 0 && endsEarly ? endAt : -1;
            drivers.add(Thread.ofPlatform().start(() -> drive(new Random(own), operations / DRIVERS, end, mine)));
        }
        for (Thread driver : drivers) {
            driver.join();
        }
        end(random);
        if (!pool.awaitTermination(60, TimeUnit.SECONDS)) {
            violations.add("the pool has not terminated: " + pool);
        }
        checkCounts();
    }

    private void drive(Random random, int operations, int endAt, List<Job> mine) {
        for (int i = 0; i < operations; i++) {
            if (i == endAt) {
                end(random);
            }
            int what = random.nextInt(200);
            if (what == 0) {
                resize(random);
            } else if (what < 5 && !mine.isEmpty()) {
                Job job = mine.get(mine.size() - 1 - random.nextInt(Math.min(mine.size(), 50)));
                if (pool.remove(job)) {
                    job.submission = Submission.REMOVED;
                }
            } else {
                submit(new Job(random.nextInt(100)), mine);
            }
        }
    }

    private void submit(Job job, List<Job> mine) {
        mine.add(job);
        try {
            pool.execute(job);
            job.submission = Submission.ACCEPTED;
        } catch (RejectedExecutionException | OutOfThreads refused) {
            job.submission = Submission.REJECTED;
        }
    }

    private void resize(Random random) {
        try {
            switch (random.nextInt(5)) {
                case 0 -> pool.setCorePoolSize(random.nextInt(MOST_THREADS));
                case 1 -> pool.setMaximumPoolSize(1 + random.nextInt(MOST_THREADS));
                case 2 -> pool.setKeepAliveTime(1 + random.nextInt(1000), TimeUnit.MICROSECONDS);
                case 3 -> pool.allowCoreThreadTimeOut(random.nextBoolean());
                default -> pool.purge();
            }
        } catch (IllegalArgumentException | OutOfThreads outOfRange) {
            // a core size above the maximum, a maximum below the core size, or no thread: none is a violation
        }
    }

    private void end(Random random) {
        switch (random.nextInt(3)) {
            case 0 -> pool.shutdown();
            case 1 -> returned.addAll(pool.shutdownNow());
            default -> {
                ShutdownReport report = pool.drain(Duration.ofMillis(random.nextInt(3)));
                report.handedBack().forEach(task -> returned.add(task.runnable()));
            }
        }
    }

    private void checkCounts() {
        long accepted = 0;
        long ran = 0;
        for (Job job : jobs.stream().flatMap(List::stream).toList()) {
            int runs = job.runs.get();
            boolean removed = returned.remove(job);
            accepted += job.submission == Submission.REJECTED ? 0 : 1;
            ran += runs;
            if (runs + (removed ? 1 : 0) != (job.submission == Submission.ACCEPTED ? 1 : 0)) {
                violations.add(job.submission + " task ran " + runs + " times, returned: " + removed);
            }
        }
        if (!returned.isEmpty()) {
            violations.add(returned.size() + " tasks were returned twice");
        }
        ThreadPool.Stats stats = pool.stats();
        if (stats.accepted() != accepted || stats.completed() != ran || stats.active() != 0 || stats.queued() != 0) {
            violations.add("accepted " + accepted + ", ran " + ran + ", but " + stats);
        }
    }

    Collection<String> violations() {
        return violations;
    }
}
