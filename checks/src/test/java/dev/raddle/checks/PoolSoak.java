package dev.raddle.checks;

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

/** The life of one pool under random use by several threads, and what must have become of each of its tasks. */
final class PoolSoak {

    /**
     * What is particular about a soak.
     *
     * @param name what it is called
     * @param rules what the pool is told
     * @param badThreads how many of a hundred attempts to make a thread fail
     */
    record Setting(String name, UnaryOperator<ThreadPool.Builder> rules, int badThreads) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** What the submitter knows of a task's fate. */
    private enum Fate {
        ACCEPTED,
        REJECTED,
        REMOVED
    }

    private static final int DRIVERS = 4;
    private static final int MOST_THREADS = 6;

    private final Setting setting;
    private final ThreadPool pool;
    private final List<List<Job>> jobs = new ArrayList<>(); // of each driver
    private final Collection<Runnable> handedBack = new ConcurrentLinkedQueue<>();
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
        Fate fate = Fate.REJECTED; // its driver's

        Job(int kind) {
            this.kind = kind;
        }

        @Override
        public void run() {
            runs.incrementAndGet();
            if (Thread.currentThread().isInterrupted() && pool.runState().compareTo(RunState.STOP) < 0) {
                violations.add("a task began with an interrupt that was not meant for it");
            }
            if (kind == 0) {
                throw new Expected();
            }
            if (kind == 1) {
                Thread.currentThread().interrupt(); // left behind
            }
        }
    }

    /** Uses the pool until so many operations have been performed, ends it in use, and checks the account. */
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
            violations.add("the pool has not ended: " + pool);
        }
        account();
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
                    job.fate = Fate.REMOVED;
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
            job.fate = Fate.ACCEPTED;
        } catch (RejectedExecutionException | OutOfThreads refused) {
            job.fate = Fate.REJECTED;
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
            // a core size above the maximum, or a maximum below the core size, or no thread: all the same to the soak
        }
    }

    private void end(Random random) {
        switch (random.nextInt(3)) {
            case 0 -> pool.shutdown();
            case 1 -> handedBack.addAll(pool.shutdownNow());
            default -> {
                ShutdownReport report = pool.drain(Duration.ofMillis(random.nextInt(3)));
                report.handedBack().forEach(task -> handedBack.add(task.runnable()));
            }
        }
    }

    private void account() {
        long accepted = 0;
        long ran = 0;
        for (Job job : jobs.stream().flatMap(List::stream).toList()) {
            int runs = job.runs.get();
            boolean gone = handedBack.remove(job);
            accepted += job.fate == Fate.REJECTED ? 0 : 1;
            ran += runs;
            if (runs + (gone ? 1 : 0) != (job.fate == Fate.ACCEPTED ? 1 : 0)) {
                violations.add(job.fate + " task ran " + runs + " times, handed back: " + gone);
            }
        }
        if (!handedBack.isEmpty()) {
            violations.add(handedBack.size() + " tasks were handed back twice");
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
