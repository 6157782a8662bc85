package dev.raddle.pool;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** The settings of a pool's builder, except for the handler of rejected tasks. */
final class PoolSettings {

    final String name;
    int coreThreads = Runtime.getRuntime().availableProcessors();
    int maxThreads = coreThreads;
    Duration keepAlive = Duration.ofSeconds(60);
    boolean coreTimeout;
    int queueCapacity = Integer.MAX_VALUE;

    @Nullable
    BlockingQueue<Runnable> queue;

    @Nullable
    ToIntFunction<Object> priority;

    @Nullable
    ThreadFactory threadFactory;

    TimeSource timeSource = TimeSource.system();

    @Nullable
    PoolListener listener;

    @Nullable
    TaskListener taskListener;

    List<ContextPropagator> propagators = List.of();
    ExceptionSink exceptionSink = ExceptionSink.logging();

    @Nullable
    Duration stuckAfter;

    boolean followsJdk; // follow the JDK exactly where pools of a builder extend its contract
    boolean scaleBeforeQueueing;
    boolean cancelHandedBack = true;

    PoolSettings(String name) {
        this.name = name;
    }

    void check() {
        atLeast("corePoolSize", 0, coreThreads);
        atLeast("maximumPoolSize", Math.max(1, coreThreads), maxThreads);
        checkKeepAlive(keepAliveNanos(), coreTimeout);
        if (queue != null && (queueCapacity != Integer.MAX_VALUE || priority != null)) {
            throw new IllegalArgumentException(
                    "queueCapacity and priority are settings of the built-in queue; remove them, or configure the "
                            + queue.getClass().getName() + " that was supplied");
        }
    }

    static int atLeast(String what, int least, int value) {
        if (value < least) {
            throw new IllegalArgumentException(what + " must be at least " + least + ", was " + value);
        }
        return value;
    }

    static void checkKeepAlive(long length, boolean coreTimeout) {
        if (length < 0 || (length == 0 && coreTimeout)) {
            throw new IllegalArgumentException("keepAliveTime must be " + (coreTimeout ? "more than" : "at least")
                    + " 0" + (coreTimeout ? " if core threads may time out" : "") + ", was " + length);
        }
    }

    /** Returns the observed tasks of a new pool, or null if there is nothing to notify or carry. */
    @Nullable
    ObservedTasks observedTasks() {
        return taskListener == null && propagators.isEmpty()
                ? null
                : new ObservedTasks(name, timeSource, taskListener, propagators, exceptionSink);
    }

    long keepAliveNanos() {
        return TimeUnit.NANOSECONDS.convert(keepAlive);
    }

    @SuppressWarnings("ThreadPriorityCheck") // the same for all threads, as in the JDK's default factory
    ThreadFactory factory() {
        return threadFactory != null
                ? threadFactory
                : Thread.ofPlatform()
                        .name(name + "-", 1)
                        .daemon(false) // otherwise inherited from the submitter, and a virtual thread is a daemon
                        .priority(Thread.NORM_PRIORITY)
                        .inheritInheritableThreadLocals(false)
                        .factory();
    }
}
