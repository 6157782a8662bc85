package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancellationToken;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskPriority;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A block of code that no task outlives: tasks are submitted to it, and when the block is left, all of them have ended.
 *
 * {@snippet :
 * static final ScopeOptions PAGE = ScopeOptions.defaults().withDeadline(Duration.ofSeconds(2));
 *
 * try (ThreadScope scope = ThreadScope.open("page", PAGE)) {
 *     Task<User> user = scope.submit("user", () -> users.load(id));
 *     Task<List<Order>> orders = scope.submit("orders", () -> orderService.of(id), Duration.ofMillis(200));
 *     scope.await(user, orders); // throws what failed first, and cancels the other
 *     return render(user.await(), orders.await());
 * }
 * }
 *
 * <p>The thread that opens a scope owns it: it configures it, by {@link ScopeOptions} or before the first task, and closes it.
 * Every other method may be called by any thread, the scope's own tasks included. The setters of an open scope throw before
 * there is a variable for the scope if they are called in the head of a {@code try} statement. A scope of which a setter has
 * thrown leaves its owner's thread, and enters it again when it is used; it cannot know of an argument that throws before the
 * setter is called. Options have neither problem. Hooks, listeners and deferred actions are never called under a lock.
 *
 * <p>A scope has no deadline unless it is given one. A scope that is opened inside another, in the same thread or in one of
 * its tasks, has no more time than the other has left, and than the task has left if that has a timeout; so has everything
 * that is submitted to a {@code GroupExecutor} from inside a scope. Cancelling a scope cancels the scopes inside it.
 *
 * <p>Memory consistency effects: actions before a task is submitted <i>happen-before</i> the task; the task
 * <i>happens-before</i> the return of a wait for it and of {@link #close()}.
 */
public final class ThreadScope extends EnclosingScope implements AutoCloseable {

    /*
     * Overview.
     *
     * A task walks: ask (submit) ─► admit (ScopeGate) ─► place (Scheduler) ─► run, settle (ScopeRun). The gate holds every
     * task that has not ended, so it is the list of what is to be cancelled and to be waited for, and a task enters and
     * leaves it in O(1).
     *
     * The scope's own state is the gate's: as long as it is open, tasks enter. It is closed once, with the reason, by the
     * first of: cancel, the deadline's alarm, close(). Whoever closes it takes all tasks out of the queue, cancels them and
     * those that run, and then what is scheduled. A task that comes later is cancelled by its submitter. As the gate is
     * closed under its lock, each task was either seen by who closed it or saw that it is closed.
     *
     * What is scheduled for later is in a set of its own, and leaves it after it has entered the gate when its time has
     * come. It is added before it is looked whether the gate is closed, and the gate is closed before the set is looked at:
     * so nothing is missed. Who cancels all without closing the gate looks into the set first, and then into the gate.
     *
     * close() waits until the gate is empty, however long that takes, and only then runs what was deferred.
     *
     * A scope that is opened inside another, by the owner of that or in a task of it, is in the other's set `nested` from its
     * opening to its end. Cancelling closes the gates of the whole tree, each scope's before its set is looked at; a scope
     * that is opened adds itself before it looks at the gate around it. So none is missed. A scope in a task that a group runs
     * beside the outer scope is in no set: the outer scope does not wait for that task.
     *
     * While a setter's exception may have made the scope unreachable, it is `withdrawn`: out of its thread, of the set around
     * it and of the time source. Whatever uses it next brings it back.
     *
     * The deadline's alarm decides, and interrupts, in the time source's thread; whoever has to be told of it is told in
     * another (OffloadExecutor), because that thread must not run foreign code.
     */

    private static final AtomicLong IDS = new AtomicLong();

    /**
     * What {@link ThreadScope#map} calls for each element.
     *
     * @param <E> the type of the elements
     * @param <R> the type of the values
     */
    @FunctionalInterface
    public interface Mapper<E, R> {
        /**
         * Returns the value for an element.
         *
         * @param element one of the elements
         * @return the value
         * @throws Exception if there is none; it is the task's failure
         */
        R map(E element) throws Exception;
    }

    /** The context of a submitter, and what its tasks see of it. */
    private record Known(TaskContext context, Surroundings seen) {}

    /** A runnable as a callable without a value. */
    private record Action(Runnable body) implements Callable<Void> {
        Action {
            Objects.requireNonNull(body, "action");
        }

        @Override
        @SuppressWarnings("NullAway") // Void is null
        public Void call() {
            body.run();
            return null;
        }
    }

    /** What is to be done at the end, before what was deferred earlier. */
    private record Deferred(Runnable cleanUp, @Nullable Deferred earlier) {
        static final Deferred NO_MORE = new Deferred(() -> {}, null);
    }

    private final Thread owner = Thread.currentThread();
    private final long id = IDS.incrementAndGet();
    private final String name;
    private final @Nullable EnclosingScope enclosing;
    private final @Nullable ThreadScope parent; // which cancels this with itself
    private final ScopeGate gate = new ScopeGate(this);
    private final ScopeToken token = new ScopeToken(this);
    private final AtomicLong taskIds = new AtomicLong();
    private final AtomicBoolean begun = new AtomicBoolean(); // whether a task was submitted
    private final AtomicReference<Scheduler.@Nullable Lease> lease = new AtomicReference<>(); // null until then
    private final AtomicReference<@Nullable Deferred> deferred =
            new AtomicReference<>(); // the latest; its monitor: below
    private volatile @Nullable Set<ScopeRun<?>>
            scheduled; // null until something is; made under the monitor of deferred
    private volatile @Nullable Set<ThreadScope> nested; // null until something is; made under the monitor of deferred

    // Written by the owner before the first task is submitted.
    private ScopeOptions options;
    private TimeSource time;

    private volatile boolean closed;
    private volatile boolean withdrawn; // whether a setter has thrown, and the scope was not used since
    private volatile @Nullable Deadline deadline;
    private volatile Duration budget = Duration.ZERO; // from where the deadline was set
    private volatile @Nullable Expiry expiry;
    private volatile @Nullable Alarm deadlineAlarm; // written by the owner, or by the thread that ends the withdrawal
    private volatile @Nullable Known known; // most tasks are submitted in the same context

    private ThreadScope(@Nullable String name, ScopeOptions options) {
        this.name = name == null ? "scope-" + id : name;
        this.options = options;
        EnclosingScope entered = EnclosingScope.entered();
        this.enclosing = entered != null ? entered : EnclosingScope.ofTask();
        this.parent = scopeOf(EnclosingScope.nest());
        Deadline outer = enclosing == null ? null : enclosing.deadline();
        if (outer != null) {
            requireTimeOf(outer, options.time);
        }
        TimeSource asked = options.time;
        this.time = outer != null
                ? outer.time()
                : asked != null ? UserCode.clock(asked, this::timeThrew) : TimeSource.system();
    }

    /** Returns the scope that an enclosure is, or whose task it is. */
    private static @Nullable ThreadScope scopeOf(@Nullable EnclosingScope enclosure) {
        return switch (enclosure) {
            case ThreadScope scope -> scope;
            case TimedTask task -> task.scope();
            case null, default -> null;
        };
    }

    /**
     * Opens a scope, owned by the calling thread, which closes it.
     *
     * @return a new scope, named by its number
     */
    public static ThreadScope open() {
        return open(new ThreadScope(null, ScopeOptions.defaults()));
    }

    /**
     * Opens a scope, owned by the calling thread, which closes it.
     *
     * @param name what the scope is called in messages and events
     * @return a new scope
     */
    public static ThreadScope open(String name) {
        return open(name, ScopeOptions.defaults());
    }

    /**
     * Opens a scope with options, owned by the calling thread, which closes it.
     *
     * @param options the settings
     * @return a new scope, named by its number
     * @throws IllegalStateException if the options have another time source than the deadline of the scope around this one
     */
    public static ThreadScope open(ScopeOptions options) {
        return open(new ThreadScope(null, Objects.requireNonNull(options, "options")));
    }

    /**
     * Opens a scope with options, owned by the calling thread, which closes it. The options are complete and checked when the
     * scope is opened, so nothing can go wrong between the opening and the block that closes the scope.
     *
     * {@snippet :
     * static final ScopeOptions PAGES = ScopeOptions.defaults().withDeadline(Duration.ofSeconds(2));
     *
     * try (ThreadScope scope = ThreadScope.open("page", PAGES)) {
     *     return scope.awaitAll(scope.submit(() -> header(id)), scope.submit(() -> body(id)));
     * }
     * }
     *
     * @param name what the scope is called in messages and events
     * @param options the settings
     * @return a new scope
     * @throws IllegalStateException if the options have another time source than the deadline of the scope around this one
     */
    public static ThreadScope open(String name, ScopeOptions options) {
        return open(new ThreadScope(Objects.requireNonNull(name, "name"), Objects.requireNonNull(options, "options")));
    }

    private static ThreadScope open(ThreadScope scope) {
        ScopeOptions options = scope.options;
        if (options.concurrencyLimit != Integer.MAX_VALUE) {
            scope.gate.limit(options.concurrencyLimit);
        }
        scope.limitTime(options.deadline);
        scope.enterThread();
        return scope;
    }

    /** Makes the calling thread, the owner, one that is inside this scope, and this scope one that its parent cancels. */
    private void enterThread() {
        enter();
        if (parent != null && !parent.closed) {
            parent.nested().add(this);
            CancelledException cause = parent.gate.closed();
            if (cause != null) {
                cancel(cancelledWith(parent, cause));
            }
        }
    }

    /** Undoes what entering did. */
    private void leaveThread() {
        leave();
        if (parent != null) {
            parent.nested().remove(this);
        }
    }

    /**
     * Returns the scope that the calling thread is inside of: as its owner, or in one of its tasks, or in a task that was
     * submitted elsewhere from inside it.
     *
     * @return the innermost scope, or empty
     */
    public static Optional<ThreadScope> current() {
        EnclosingScope inside = EnclosingScope.innermost();
        while (inside != null && !(inside instanceof ThreadScope)) {
            inside = enclosureOf(inside);
        }
        return Optional.ofNullable((ThreadScope) inside);
    }

    // Configuring.

    /** Changes the options, or throws and leaves no trace in the owner's thread: this scope may be unreachable then. */
    private ThreadScope configure(String method, UnaryOperator<ScopeOptions> change) {
        requireNotBegun(method);
        try {
            options = change.apply(options);
        } catch (Throwable refused) {
            withdraw();
            throw refused;
        }
        return this;
    }

    private void requireNotBegun(String method) {
        requireOpen(method);
        if (begun.get()) {
            throw new IllegalStateException(
                    method + " of scope \"" + name + "\" came too late; call it before the first submit or schedule");
        }
        comeBack();
    }

    /**
     * Takes this scope out of its owner's thread and out of the time source. An exception of a setter in the head of a
     * try-with-resources statement leaves no variable by which the scope could be closed. If the scope has another scope
     * inside, the owner is in its block, which closes it.
     */
    private void withdraw() {
        if (Thread.currentThread() == owner && EnclosingScope.entered() == this && !begun.get()) {
            leaveThread();
            disarm();
            withdrawn = true;
        }
    }

    /** Undoes the withdrawal: the scope is used, so it has a block that closes it. */
    private void comeBack() {
        if (withdrawn && endWithdrawal()) {
            deadlineAlarm = arm();
            if (Thread.currentThread() == owner) {
                enterThread();
            }
        }
    }

    /** Returns whether the caller is the one that has to bring this scope back: under no lock, for that calls user code. */
    private boolean endWithdrawal() {
        synchronized (deferred) {
            boolean ended = withdrawn;
            withdrawn = false;
            return ended;
        }
    }

    /**
     * Sets where tasks run; on virtual threads unless set.
     *
     * @param where stays its maker's: the scope never shuts it down, but lets it know when it is through with it
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withScheduler(Scheduler where) {
        return configure("withScheduler", all -> all.withScheduler(where));
    }

    /**
     * Sets what a wait for several tasks does when one fails; {@link FailurePolicy#FAIL_FAST} unless set.
     *
     * @param policy the policy
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withFailurePolicy(FailurePolicy policy) {
        return configure("withFailurePolicy", all -> all.withFailurePolicy(policy));
    }

    /**
     * Sets how often tasks are tried that do not say so themselves; once unless set.
     *
     * @param policy the policy
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withRetryPolicy(RetryPolicy policy) {
        return configure("withRetryPolicy", all -> all.withRetryPolicy(policy));
    }

    /**
     * Sets the priority of tasks that do not say it themselves; {@link TaskPriority#NORMAL} unless set. It orders the tasks
     * that wait for this scope's {@linkplain #withConcurrencyLimit limit}, and those that wait at a
     * {@linkplain Scheduler#priority priority scheduler}; elsewhere it has no effect.
     *
     * @param priority the priority
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withDefaultTaskPriority(TaskPriority priority) {
        return configure("withDefaultTaskPriority", all -> all.withDefaultTaskPriority(priority));
    }

    /**
     * Sets how many tasks run at once; any number unless set. More of them wait, without a thread and without blocking their
     * submitter, by priority and then in order of submission.
     *
     * @param tasks at least 1
     * @return this scope
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withConcurrencyLimit(int tasks) {
        configure("withConcurrencyLimit", all -> all.withConcurrencyLimit(tasks));
        gate.limit(tasks);
        return this;
    }

    /**
     * Sets how long the scope may take from now on. When that is over, its tasks are cancelled and interrupted, and waits for
     * them throw {@link ScopeTimeoutException}. A scope inside another can only shorten what the other has left. A length that
     * is zero or negative is a budget that is spent: the tasks that follow are cancelled at once, and no later call changes
     * that.
     *
     * @param length the time from now on
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withDeadline(Duration length) {
        configure("withDeadline", all -> all.withDeadline(length));
        try {
            limitTime(length);
        } catch (Throwable noAlarm) {
            withdraw();
            throw noAlarm;
        }
        return this;
    }

    /**
     * Adds a hook; it hears after those added before.
     *
     * @param hears is told of each task
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withHook(ThreadHook hears) {
        return configure("withHook", all -> all.withHook(hears));
    }

    /**
     * Sets a listener, as every door has it.
     *
     * @param hears is told of each task; its owner is this scope's name
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withListener(TaskListener hears) {
        return configure("withListener", all -> all.withListener(hears));
    }

    /**
     * Adds what carries a context that Raddle does not know, such as that of logging, into the tasks. Those added are
     * installed in this order and restored in the reverse.
     *
     * @param propagator the propagator
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withPropagator(ContextPropagator propagator) {
        return configure("withPropagator", all -> all.withPropagator(propagator));
    }

    /**
     * Adds a scoped value that is bound in the tasks as it is bound in their submitters.
     *
     * @param value the scoped value
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withScopedValue(ScopedValue<?> value) {
        return configure("withScopedValue", all -> all.withScopedValue(value));
    }

    /**
     * Sets where exceptions go that must not change a task: those of hooks, listeners and propagators, and the reports about
     * tasks that {@link #close()} waits for; a {@linkplain ExceptionSink#logging() log} unless set.
     *
     * @param target the sink
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withExceptionSink(ExceptionSink target) {
        return configure("withExceptionSink", all -> all.withExceptionSink(target));
    }

    /**
     * Sets how long {@link #close()} waits before it names, through the sink, the tasks that do not end, and how often; ten
     * seconds unless set. It waits on in any case.
     *
     * @param length positive
     * @return this scope
     * @throws IllegalArgumentException if it is not positive
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withPatience(Duration length) {
        return configure("withPatience", all -> {
            if (!length.isPositive()) {
                throw new IllegalArgumentException(
                        "patience of scope \"" + name + "\" must be positive, was " + length);
            }
            return all.withPatience(length);
        });
    }

    /**
     * Sets what knows the time; real time unless set, or the time of the enclosing scope's deadline.
     *
     * @param source the time source
     * @return this scope
     * @throws IllegalStateException if a task was submitted, or the scope has a deadline: that is a moment of another time
     */
    public ThreadScope withTimeSource(TimeSource source) {
        configure("withTimeSource", all -> {
            Deadline set = deadline;
            if (set != null) {
                requireTimeOf(set, source);
            }
            return all.withTimeSource(source);
        });
        time = UserCode.clock(source, this::timeThrew);
        return this;
    }

    private void requireTimeOf(Deadline set, @Nullable TimeSource source) {
        if (source != null && !UserCode.isSameClock(set.time(), source)) {
            throw new IllegalStateException("scope \"" + name + "\" has a deadline on " + set.time()
                    + "; call withTimeSource before withDeadline, and inside a scope with a deadline not at all");
        }
    }

    /** Sets the deadline to the earlier one of the enclosure's and that after a length, if there is any. */
    private void limitTime(@Nullable Duration length) {
        Deadline outer = enclosing == null ? null : enclosing.deadline();
        if (length != null && (outer == null || length.compareTo(outer.remaining()) < 0)) {
            setDeadline(Deadline.after(time, length), length);
        } else if (outer != null) {
            setDeadline(outer, outer.remaining());
        }
    }

    /** Sets the deadline and watches it, or throws and leaves the former one as it was. */
    private void setDeadline(Deadline moment, Duration length) {
        Deadline formerDeadline = deadline;
        Duration formerBudget = budget;
        deadline = moment;
        budget = length.isNegative() ? Duration.ZERO : length;
        Alarm alarm;
        try {
            alarm = arm();
        } catch (Throwable noAlarm) {
            deadline = formerDeadline;
            budget = formerBudget;
            throw noAlarm;
        }
        disarm();
        deadlineAlarm = alarm;
    }

    /** Has the deadline, if there is one, end this scope: now, if it has passed, or by the alarm that this returns. */
    private @Nullable Alarm arm() {
        Deadline moment = deadline;
        if (moment == null) {
            return null;
        }
        if (moment.hasPassed()) {
            expire(moment, Runnable::run);
            return null;
        }
        return moment.alarm(() -> expire(moment, elsewhere()));
    }

    private void disarm() {
        Alarm set = deadlineAlarm;
        if (set != null) {
            set.cancel();
            deadlineAlarm = null;
        }
    }

    // Submitting.

    /**
     * Submits a task.
     *
     * @param <T> the type of the value
     * @param callable what to call
     * @return the task, named by its number
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(Callable<? extends T> callable) {
        return submitted(null, callable, defaultRank(), retryPolicy(), null);
    }

    /**
     * Submits a task. Never blocks, unless the scheduler runs tasks in the calling thread. If the scope was cancelled, the
     * task is cancelled at once.
     *
     * @param <T> the type of the value
     * @param name what the task is called
     * @param callable what to call
     * @return the task
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(String name, Callable<? extends T> callable) {
        return submitted(Objects.requireNonNull(name, "name"), callable, defaultRank(), retryPolicy(), null);
    }

    /**
     * Submits a task without a value.
     *
     * {@snippet :
     * scope.submit(() -> mailer.send(mail));
     * scope.submit(() -> mailer.send(mail), Duration.ofSeconds(2));
     * }
     *
     * @param action the action to run
     * @param timeout none, or the longest time that the task may take, waiting and all attempts included; positive. The
     *     parameter is variable so that a lambda which returns a value is always taken for a {@link Callable}
     * @return the task, named by its number
     * @throws IllegalArgumentException if the timeout is not positive, or if there is more than one
     * @throws IllegalStateException if this scope is closed
     */
    public Task<Void> submit(Runnable action, Duration... timeout) {
        return submitted(null, new Action(action), defaultRank(), retryPolicy(), only(timeout));
    }

    /**
     * Submits a task without a value.
     *
     * @param name the name of the task
     * @param action the action to run
     * @param timeout none, or the longest time that the task may take, as of {@link #submit(Runnable, Duration...)}
     * @return the task
     * @throws IllegalArgumentException if the timeout is not positive, or if there is more than one
     * @throws IllegalStateException if this scope is closed
     */
    public Task<Void> submit(String name, Runnable action, Duration... timeout) {
        Objects.requireNonNull(name, "name");
        return submitted(name, new Action(action), defaultRank(), retryPolicy(), only(timeout));
    }

    private static @Nullable Duration only(Duration... timeout) {
        if (timeout.length > 1) {
            throw new IllegalArgumentException("timeout must be one at most, were " + timeout.length);
        }
        if (timeout.length == 1 && !timeout[0].isPositive()) {
            throw new IllegalArgumentException("timeout must be positive, was " + timeout[0]);
        }
        return timeout.length == 0 ? null : timeout[0];
    }

    /**
     * Submits a task with settings of its own.
     *
     * {@snippet :
     * Task<Rank> rank = scope.submit(
     *         "rank", () -> ranks.of(id), task -> task.priority(TaskPriority.HIGH).retry(RetryPolicy.attempts(3)));
     * }
     *
     * @param <T> the type of the value
     * @param name what the task is called
     * @param callable what to call
     * @param plan changes the plan of the task; called once, by this method
     * @return the task
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(String name, Callable<? extends T> callable, UnaryOperator<TaskSpec<T>> plan) {
        return submit(plan.apply(TaskSpec.named(name, callable)));
    }

    /**
     * Submits a task that may not take longer than some time from now on, waiting and all attempts included.
     *
     * @param <T> the type of the value
     * @param name what the task is called
     * @param callable what to call
     * @param timeout positive
     * @return the task
     * @throws IllegalArgumentException if the timeout is not positive
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(String name, Callable<? extends T> callable, Duration timeout) {
        return submit(TaskSpec.<T>named(name, callable).timeout(timeout));
    }

    /**
     * Submits a planned task. What the plan leaves open is as this scope was configured. A scope knows no costs and no queue
     * timeouts: each task takes one of the scope's places.
     *
     * @param <T> the type of the value
     * @param spec the plan
     * @return the task
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(TaskSpec<T> spec) {
        RetryPolicy retry = spec.retry();
        return submitted(
                spec.name(),
                spec.callable(),
                spec.priorityOr(defaultRank()),
                retry == null ? retryPolicy() : retry,
                spec.timeout());
    }

    /** Submits a task that leaves everything to this scope. */
    <T> ScopeRun<T> submitPlain(Callable<? extends T> callable) {
        return submitted(null, callable, defaultRank(), retryPolicy(), null);
    }

    private <T> ScopeRun<T> submitted(
            @Nullable String taskName,
            Callable<? extends T> callable,
            int rank,
            RetryPolicy retry,
            @Nullable Duration timeout) {
        Objects.requireNonNull(callable, "callable");
        begin(taskName == null ? "a task" : "task \"" + taskName + "\"");
        TimeLimit limit = timeout != null || retry.maxAttempts() > 1 ? limit(timeout) : null;
        long taskId = nextId();
        Surroundings seen = limit == null || limit.enclosure() != null
                ? capture()
                : captureIn(new TimedTask(this, taskName == null ? "task-" + taskId : taskName, limit.deadline()));
        ScopeRun<T> run = new ScopeRun<>(this, taskId, taskName, callable, rank, retry, limit, seen, now());
        submit(run);
        return run;
    }

    private void begin(String what) {
        requireOpen(what);
        if (!begun.get() && begun.compareAndSet(false, true)) {
            comeBack();
            Scheduler.Lease taken = options.scheduler.lease();
            if (!lease.compareAndSet(null, taken)) {
                taken.close(); // this scope has been closed meanwhile
            }
        }
    }

    private void requireOpen(String what) {
        if (closed) {
            throw closedFor(what);
        }
    }

    private IllegalStateException closedFor(String what) {
        return new IllegalStateException(
                "scope \"" + name + "\" is closed, " + what + " came too late; submit inside its try block");
    }

    /** Counts and tells of a run, and lets it enter the gate. */
    void submit(ScopeRun<?> run) {
        boolean countsAtOnce = run.isTimed() || options.listener != null; // it may be ended before it enters
        if (countsAtOnce) {
            gate.submitted();
            tellSubmitted(run);
        }
        run.arm();
        admit(run, !countsAtOnce);
    }

    /** Lets a run enter the gate, and places it if it is its turn. */
    void admit(ScopeRun<?> run, boolean counts) {
        switch (gate.admit(run, counts)) {
            case HELD -> start(run);
            case WAITING -> run.leaveIfEnded();
            case CANCELLED -> {
                CancelledException cause = gate.closed();
                run.cancel(cause == null ? new CancelledException("scope was closed") : cause, Runnable::run);
                run.left();
            }
        }
    }

    private void start(ScopeRun<?> run) {
        if (options.scheduler == Scheduler.virtualThreads()) {
            GrantedPermits grants = new GrantedPermits();
            run.place(options.scheduler, grants);
            dispatch(grants);
        } else {
            Dispatch.start(run);
        }
    }

    /** Places what was granted, and what becomes possible by that. */
    void dispatch(GrantedPermits grants) {
        for (Permit granted; (granted = grants.poll()) != null; ) {
            ScopeRun<?> run = (ScopeRun<?>) granted;
            if (options.scheduler == Scheduler.virtualThreads()) {
                run.place(options.scheduler, grants);
            } else {
                Dispatch.start(run);
            }
        }
    }

    // Waiting.

    /**
     * Waits for tasks under the failure policy.
     *
     * @param first a task of this scope
     * @param rest more of them
     * @return how they ended
     * @throws InterruptedException as {@link #await(Collection)} does
     */
    public ScopeResult await(Task<?> first, Task<?>... rest) throws InterruptedException {
        List<Task<?>> all = new ArrayList<>(rest.length + 1);
        all.add(first);
        all.addAll(Arrays.asList(rest));
        return await(all);
    }

    /**
     * Waits for tasks under the {@linkplain #withFailurePolicy failure policy}. Under a policy by which the first failure
     * cancels the scope's other tasks, whatever they are, it does so in the moment of the failure; tasks that are submitted
     * later are not concerned.
     *
     * @param tasks tasks of this scope
     * @return how they ended
     * @throws RuntimeException under {@link FailurePolicy#FAIL_FAST}, what the task threw that failed first, with later
     *     failures as suppressed exceptions; a checked exception is wrapped, as by {@link Task#await()}
     * @throws Error in the same way
     * @throws AggregateException under {@link FailurePolicy#COLLECT_ALL}, if a task failed
     * @throws ScopeTimeoutException if the scope's deadline passed before one of them had ended, whatever else failed: that
     *     is in its suppressed exceptions
     * @throws IllegalArgumentException if a task is not of this scope
     * @throws IllegalStateException if the caller is a task of this scope, and all tasks that its limit lets run wait for
     *     others of it
     * @throws InterruptedException if the calling thread is interrupted; the tasks go on
     */
    public ScopeResult await(Collection<? extends Task<?>> tasks) throws InterruptedException {
        List<ScopeRun<?>> runs = ownRuns(tasks);
        Watch watch = new Watch(this, runs.size());
        try {
            Watch.Chain alone = new Watch.Chain(watch, null);
            for (ScopeRun<?> run : runs) {
                run.watch(watch, alone);
            }
            if (gate.isLimited() || options.scheduler != Scheduler.virtualThreads()) {
                for (ScopeRun<?> run : runs) {
                    run.awaitEnd(); // a wait that could never end is found one by one
                }
            }
            watch.await();
        } finally {
            watch.end();
        }
        return new Verdict(this, runs).under(options.failurePolicy);
    }

    /**
     * Waits for tasks, as {@link #await(Collection)} does, and returns their values.
     *
     * @param <T> the type of the values
     * @param first a task of this scope
     * @param rest more of them
     * @return the values
     * @throws InterruptedException if the calling thread is interrupted; the tasks go on
     */
    @SafeVarargs
    public final <T> List<T> awaitAll(Task<? extends T> first, Task<? extends T>... rest) throws InterruptedException {
        List<Task<? extends T>> all = new ArrayList<>(rest.length + 1);
        all.add(first);
        for (Task<? extends T> task : rest) {
            all.add(task);
        }
        return awaitAll(all);
    }

    /**
     * Waits for tasks, as {@link #await(Collection)} does, and returns their values.
     *
     * @param <T> the type of the values
     * @param tasks tasks of this scope
     * @return the values, in the order of the tasks; a value may be null
     * @throws CancelledException if one of them was cancelled, under a policy that throws
     * @throws IllegalStateException if one of them has no value, under a policy that does not throw: use {@code await} and
     *     {@link Task#outcome()} there
     * @throws InterruptedException if the calling thread is interrupted; the tasks go on
     */
    public <T> List<T> awaitAll(Collection<? extends Task<? extends T>> tasks) throws InterruptedException {
        await(tasks);
        List<T> values = new ArrayList<>(tasks.size());
        for (Task<? extends T> task : tasks) {
            if (!options.failurePolicy.isThrowing() && task.state() != Task.State.SUCCESS) {
                throw new IllegalStateException(
                        "task \"" + task.name() + "\" in scope \"" + name + "\" has no value, it is " + task.state()
                                + "; under " + options.failurePolicy + " use await and outcome()");
            }
            values.add(task.await());
        }
        return values;
    }

    /**
     * Calls alternatives, each in a task of its own, and takes as many values as the strategy needs. When it returns, the
     * others have been cancelled and have ended.
     *
     * @param <T> the type of an alternative's value
     * @param <R> the type of the result
     * @param strategy how many are needed, and when they begin
     * @param alternatives what to call; at least as many as are needed
     * @return the result
     * @throws AggregateException if too many of them failed, as soon as that is so
     * @throws ScopeTimeoutException if the scope's deadline passed first
     * @throws CancelledException if the scope was cancelled
     * @throws IllegalArgumentException if there are too few alternatives
     * @throws IllegalStateException if this scope is closed; or if the caller is a task of it, and all tasks that its limit
     *     lets run wait for others of it
     * @throws InterruptedException if the calling thread is interrupted; the alternatives are cancelled
     */
    public <T, R> R join(JoinStrategy<T, R> strategy, Collection<? extends Callable<? extends T>> alternatives)
            throws InterruptedException {
        List<Callable<? extends T>> all = List.copyOf(alternatives);
        if (all.size() < strategy.needed()) {
            throw new IllegalArgumentException(
                    strategy + " needs at least " + strategy.needed() + " alternatives, there are " + all.size());
        }
        begin("a join");
        return strategy.result(new Race<>(this, strategy, all).run());
    }

    /**
     * Calls alternatives, each in a task of its own, as {@link #join(JoinStrategy, Collection)} does.
     *
     * {@snippet :
     * Price price = scope.join(JoinStrategy.firstSuccess(), () -> near.price(), () -> far.price());
     * }
     *
     * @param <T> the type of an alternative's value
     * @param <R> the type of the result
     * @param strategy how many are needed, and when they begin
     * @param first an alternative
     * @param rest the other alternatives
     * @return the result
     * @throws InterruptedException if the calling thread is interrupted; the alternatives are cancelled
     */
    @SafeVarargs
    public final <T, R> R join(JoinStrategy<T, R> strategy, Callable<? extends T> first, Callable<? extends T>... rest)
            throws InterruptedException {
        List<Callable<? extends T>> all = new ArrayList<>(rest.length + 1);
        all.add(first);
        for (Callable<? extends T> alternative : rest) {
            all.add(alternative);
        }
        return join(strategy, all);
    }

    /**
     * Calls a function for each of several elements, each call in a task of its own, no more than some at once, and returns
     * the values. The scope's limit, retry policy, deadline and {@linkplain #withFailurePolicy failure policy} hold, as for
     * {@link #awaitAll(Collection)}; elements whose turn has not come when the first failure cancels the others are left out.
     *
     * {@snippet :
     * List<User> users = scope.map(ids, 8, id -> directory.load(id));
     * }
     *
     * @param <E> the type of the elements
     * @param <R> the type of the values
     * @param elements the arguments of the calls; may be empty
     * @param limit how many calls run at once, at least 1
     * @param function what to call
     * @return the values, in the order of the elements; a value may be null
     * @throws AggregateException under {@link FailurePolicy#COLLECT_ALL}, if a call failed
     * @throws ScopeTimeoutException if the scope's deadline passed first
     * @throws CancelledException if the scope or a task was cancelled
     * @throws IllegalArgumentException if the limit is less than 1
     * @throws IllegalStateException if this scope is closed; if a call failed under a policy that does not throw; or if the
     *     caller is a task of this scope, and all tasks that its limit lets run wait for others of it
     * @throws InterruptedException if the calling thread is interrupted; the tasks are cancelled
     */
    public <E, R> List<R> map(Collection<? extends E> elements, int limit, Mapper<? super E, ? extends R> function)
            throws InterruptedException {
        if (limit < 1) {
            throw new IllegalArgumentException("limit of a map must be at least 1, was " + limit);
        }
        Objects.requireNonNull(function, "function");
        List<E> all = List.copyOf(elements);
        begin("a map");
        return new Mapping<E, R>(this, all, limit, function).run();
    }

    private List<ScopeRun<?>> ownRuns(Collection<? extends Task<?>> tasks) {
        List<ScopeRun<?>> runs = new ArrayList<>(tasks.size());
        for (Task<?> task : tasks) {
            if (!(task instanceof ScopeRun<?> run) || run.scope != this) {
                throw new IllegalArgumentException(
                        "scope \"" + name + "\" can wait only for its own tasks, was given " + task);
            }
            runs.add(run);
        }
        return runs;
    }

    // Later.

    /**
     * Submits a task when some time has passed.
     *
     * @param <T> the type of the value
     * @param delay how long to wait; zero or less does not
     * @param callable what to call
     * @return the task, pending until then
     * @throws IllegalStateException if this scope is closed
     */
    public <T> ScheduledTask<T> schedule(Duration delay, Callable<? extends T> callable) {
        begin("a scheduled task");
        Deadline moment = Deadline.after(time, delay);
        ScheduledRun<T> run = new ScheduledRun<>(this, nextId(), callable, moment, limit(null));
        gate.submitted();
        tellSubmitted(run);
        schedule(run, run::schedule);
        return run;
    }

    /**
     * Submits a task without a value when some time has passed.
     *
     * @param delay how long to wait; zero or less does not
     * @param action what to run
     * @return the task, pending until then
     * @throws IllegalStateException if this scope is closed
     */
    public ScheduledTask<Void> schedule(Duration delay, Runnable action) {
        return schedule(delay, new Action(action));
    }

    /**
     * Runs a job again and again, at moments that are a period apart. A round that is late because the one before took too
     * long begins at once; rounds never overlap. The job ends when a round throws, and with the scope.
     *
     * @param delay how long to wait before the first round; zero or less does not
     * @param period between the moments, positive
     * @param job what to run, in a task of its own for each round
     * @return the job, pending until it ends
     * @throws IllegalArgumentException if the period is not positive
     * @throws IllegalStateException if this scope is closed
     */
    public ScheduledTask<?> scheduleAtFixedRate(Duration delay, Duration period, Runnable job) {
        return scheduleAgain(delay, period, job, true);
    }

    /**
     * Runs a job again and again, with a rest in between. The job ends when a round throws, and with the scope.
     *
     * @param delay how long to wait before the first round; zero or less does not
     * @param rest between the end of a round and the beginning of the next, positive
     * @param job what to run, in a task of its own for each round
     * @return the job, pending until it ends
     * @throws IllegalArgumentException if the rest is not positive
     * @throws IllegalStateException if this scope is closed
     */
    public ScheduledTask<?> scheduleWithFixedDelay(Duration delay, Duration rest, Runnable job) {
        return scheduleAgain(delay, rest, job, false);
    }

    private ScheduledTask<?> scheduleAgain(Duration delay, Duration period, Runnable job, boolean fixedRate) {
        Objects.requireNonNull(job, "job");
        if (!period.isPositive()) {
            throw new IllegalArgumentException("period of a job must be positive, was " + period);
        }
        begin("a repeated job");
        PeriodicRun run = new PeriodicRun(this, nextId(), job, Deadline.after(time, delay), period, fixedRate);
        schedule(run, run::schedule);
        return run;
    }

    private void schedule(ScopeRun<?> run, Runnable arm) {
        scheduled().add(run);
        CancelledException cause = gate.closed();
        if (cause == null) {
            arm.run();
        } else {
            run.cancel(cause, Runnable::run);
        }
    }

    void unschedule(ScopeRun<?> run) {
        scheduled().remove(run);
    }

    private Set<ScopeRun<?>> scheduled() {
        Set<ScopeRun<?>> all = scheduled;
        if (all != null) {
            return all;
        }
        synchronized (deferred) {
            if (scheduled == null) {
                scheduled = ConcurrentHashMap.newKeySet();
            }
            return scheduled;
        }
    }

    private Set<ThreadScope> nested() {
        Set<ThreadScope> all = nested;
        if (all != null) {
            return all;
        }
        synchronized (deferred) {
            if (nested == null) {
                nested = ConcurrentHashMap.newKeySet();
            }
            return nested;
        }
    }

    /** Submits the task of one round of a job. */
    ScopeRun<?> roundOf(PeriodicRun periodic, Runnable job, long due) {
        ScopeRun<Object> round = new ScopeRun<>(
                this,
                nextId(),
                periodic.name(),
                Executors.callable(job),
                defaultRank(),
                retryPolicy(),
                limit(null),
                periodic.seen(),
                due);
        submit(round);
        return round;
    }

    /**
     * Opens a channel that closes with this scope. If the scope is cancelled or closed, or its time is over, while the channel
     * is open, the channel fails: its values are incomplete.
     *
     * @param <T> the type of the values
     * @param capacity how many values may have been sent and not received, at least 1
     * @return a new channel
     * @throws IllegalArgumentException if the capacity is less than 1
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Channel<T> openChannel(int capacity) {
        requireOpen("a channel");
        comeBack();
        Channel<T> channel = Channel.bounded(capacity);
        WeakReference<Channel<T>> known = new WeakReference<>(channel); // if nobody has it, nobody waits at it
        Runnable abandon = () -> abandon(known.get());
        token.whenCancelled(abandon);
        defer(abandon); // whoever cancels may come to it only after the scope is closed
        return channel;
    }

    private void abandon(@Nullable Channel<?> channel) {
        CancelledException cause = gate.closed();
        if (channel != null && cause != null) {
            ScopeTimeoutException expired = expiredBy(cause);
            channel.abandon(expired != null ? expired : cause);
        }
    }

    // Ending.

    /**
     * Cancels this scope: its tasks are cancelled, those that run are interrupted, and tasks that are submitted later are
     * cancelled at once. Does nothing if it was cancelled or closed before.
     *
     * @param reason why, for people
     */
    public void cancel(String reason) {
        cancel(new CancelledException("scope \"" + name + "\" was cancelled: " + reason));
    }

    private void cancel(CancelledException cause) {
        if (closeGate(cause) && nested != null) {
            cancelNested(cause, true);
        }
    }

    private boolean closeGate(CancelledException cause) {
        if (!gate.close(cause)) {
            return false;
        }
        cancelAll(gate.takeAll(), cause, Runnable::run);
        token.tell();
        return true;
    }

    /** Cancels the scopes inside this one, and those inside them. Scopes may nest deeply, so this does not recurse. */
    private void cancelNested(CancelledException cause, boolean timed) {
        Deque<ThreadScope> outers = new ArrayDeque<>();
        outers.add(this);
        for (ThreadScope outer; (outer = outers.poll()) != null; ) {
            Set<ThreadScope> inners = outer.nested;
            if (inners != null) {
                for (ThreadScope inner : inners) {
                    if ((timed || inner.deadline == null) && inner.closeGate(inner.cancelledWith(this, cause))) {
                        outers.add(inner);
                    }
                }
            }
        }
    }

    private CancelledException cancelledWith(ThreadScope outer, CancelledException cause) {
        return new CancelledException(
                "scope \"" + name + "\" was cancelled with scope \"" + outer.name + "\", which it is inside of: "
                        + cause.getMessage(),
                cause);
    }

    private void cancelAll(List<ScopeRun<?>> runs, CancelledException cause, Executor teller) {
        // Those that wait come last, and go first: a place that one of the others gives back must not go to them.
        runs.reversed().forEach(run -> run.cancel(cause, teller));
        Set<ScopeRun<?>> later = scheduled;
        if (later != null) {
            later.forEach(run -> run.cancel(cause, teller));
        }
    }

    /** Cancels every task but one, because that has failed. */
    void cancelOthers(ScopeRun<?> failed, CancelledException cause) {
        Set<ScopeRun<?>> known = scheduled;
        List<ScopeRun<?>> all =
                known == null ? new ArrayList<>() : new ArrayList<>(known); // before they enter the gate
        all.addAll(gate.takeAll().reversed());
        for (ScopeRun<?> run : all) {
            if (run != failed) {
                run.cancel(cause, Runnable::run);
            }
        }
    }

    /** Ends this scope because its time is over. User code is called by the teller: a time source must not run it. */
    private void expire(Deadline moment, Executor teller) {
        if (deadline != moment || gate.closed() != null) {
            return; // another deadline was set meanwhile, or it is over
        }
        Expiry passed = Expiry.of(name, budget, unfinished());
        expiry = passed;
        if (gate.close(passed.cause())) {
            cancelAll(gate.takeAll(), passed.cause(), teller);
            teller.execute(token::tell);
            if (nested != null) {
                teller.execute(() -> cancelNested(passed.cause(), false)); // the others have alarms of their own
            }
        }
    }

    /** Returns the names of what has not ended, in order of submission. A repeated job has no end; its round is named. */
    private List<String> unfinished() {
        Set<ScopeRun<?>> later = scheduled;
        return Stream.concat(gate.all().stream(), later == null ? Stream.empty() : later.stream())
                .filter(run -> !run.isDone() && !(run instanceof PeriodicRun))
                .sorted(Comparator.comparingLong(ScopeRun::id))
                .map(ScopeRun::name)
                .toList();
    }

    /** Returns what waits throw for a task that was cancelled by the passing of the deadline, or null if it was not. */
    @Nullable
    ScopeTimeoutException expiredBy(Throwable cause) {
        Expiry passed = expiry;
        return passed != null && passed.cause() == cause ? passed.exception() : null;
    }

    /**
     * Runs an action when this scope closes, after every task has ended. Actions run in the reverse order of their
     * registration, each once, in the owner's thread.
     *
     * @param cleanUp what to do
     * @throws IllegalStateException if this scope is closed
     */
    public void defer(Runnable cleanUp) {
        Objects.requireNonNull(cleanUp, "cleanUp");
        requireOpen("a deferred action");
        comeBack();
        Deferred earlier;
        do {
            earlier = deferred.get();
            if (earlier == Deferred.NO_MORE) {
                throw closedFor("a deferred action");
            }
        } while (!deferred.compareAndSet(earlier, new Deferred(cleanUp, earlier)));
    }

    /**
     * Closes this scope: cancels what has not ended, waits until every task has ended, however long that takes, runs what was
     * {@linkplain #defer deferred}, and lets go of the scheduler. A task that does not end is named through the sink. If the
     * calling thread is interrupted, it waits on, and its interrupt status is set when this returns. Closing twice is
     * harmless.
     *
     * @throws WrongThreadException if the caller is not the owner
     * @throws IllegalStateException if the caller is a task of this scope, which could never end
     * @throws StructureViolationException if scopes that the owner opened inside this one were still open; they and this one
     *     are closed all the same
     * @throws AggregateException if deferred actions threw; all of them have run
     */
    @Override
    public void close() {
        requireMayClose();
        if (closed) {
            return;
        }
        cancel(new CancelledException("scope \"" + name + "\" was closed"));
        List<Throwable> failures = new ArrayList<>();
        List<String> inner = closeInner(failures);
        boolean interrupted = awaitEmpty();
        closed = true;
        leaveThread();
        disarm();
        int before = failures.size();
        runDeferred(failures);
        String failed = text(failures.size() - before, endLease(failures));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        throwAfterClose(inner, failures, failed);
    }

    /** Closes what the owner has opened in this scope and not closed, the latest first, and returns what that was. */
    private List<String> closeInner(List<Throwable> failures) {
        List<String> labels = new ArrayList<>(0);
        for (EnclosingScope last; (last = enteredSince()) != null; ) {
            labels.add(last.label());
            try {
                ((ThreadScope) last).close();
            } catch (Throwable failure) {
                failures.add(failure);
            }
        }
        return labels;
    }

    private void throwAfterClose(List<String> inner, List<Throwable> failures, String failed) {
        if (!inner.isEmpty()) {
            StructureViolationException violation = new StructureViolationException(
                    "scopes close in the reverse order of their opening; scope \"" + name + "\" was closed before "
                            + String.join(", ", inner) + " inside it, which it has closed");
            failures.forEach(violation::addSuppressed);
            throw violation;
        }
        if (!failures.isEmpty()) {
            throw new AggregateException("at the end of scope \"" + name + "\" " + failed, failures);
        }
    }

    private static String text(int actions, boolean released) {
        String deferred = actions == 0 ? "" : actions + " of the deferred actions failed, and all of them were run";
        String scheduler = released ? "" : "the release of the scheduler failed";
        return deferred + (actions == 0 || released ? "" : "; ") + scheduler;
    }

    /** Returns false if the scheduler's lease could not be closed. */
    private boolean endLease(List<Throwable> failures) {
        Scheduler.Lease taken = lease.getAndSet(Scheduler.Lease.NOTHING);
        if (taken != null) {
            try {
                taken.close();
            } catch (Throwable failure) {
                failures.add(failure);
                return false;
            }
        }
        return true;
    }

    private void requireMayClose() {
        for (EnclosingScope inside = ofTask(); inside != null; inside = enclosureOf(inside)) {
            if (inside == this) {
                throw new IllegalStateException(
                        "scope \"" + name + "\" cannot be closed by one of its own tasks, for which"
                                + " it waits; cancel it through its token");
            }
        }
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException("scope \"" + name + "\" can be closed only by its owner, " + owner
                    + ", was closed by " + Thread.currentThread());
        }
    }

    /** Waits until all is over; returns whether the calling thread was interrupted, which it does not show any more. */
    private boolean awaitEmpty() {
        boolean interrupted = Thread.interrupted();
        Signal empty = gate.untilEmpty();
        if (!empty.isSet()) {
            interrupted |= awaitSlowly(empty);
        }
        return Thread.interrupted() || interrupted;
    }

    private boolean awaitSlowly(Signal empty) {
        Stragglers stragglers = new Stragglers(name, time, options.patience, options.sink, this::stragglers);
        stragglers.watch();
        Dispatch.startAll();
        boolean interrupted = false;
        try {
            while (!empty.isSet()) {
                try {
                    empty.await();
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
        } finally {
            stragglers.end();
        }
        return interrupted;
    }

    private List<Stragglers.Straggler> stragglers() {
        return gate.placed().stream()
                .map(run -> new Stragglers.Straggler(run.name(), run.begunNanos(), run.lastRunner()))
                .toList();
    }

    private void runDeferred(List<Throwable> failures) {
        for (Deferred next = deferred.getAndSet(Deferred.NO_MORE); next != null; next = next.earlier()) {
            try {
                next.cleanUp().run();
            } catch (Throwable failure) {
                failures.add(failure);
            }
        }
    }

    // Looking.

    /**
     * Returns the token that says whether this scope is still wanted.
     *
     * @return the same token at every call
     */
    public CancellationToken token() {
        return token;
    }

    /**
     * Returns how much time is left to the caller in this scope: until the deadline, or, in a task of this scope that has a
     * timeout, until the task's time is over, if that is earlier.
     *
     * @return the remaining time, zero if it has passed; empty if there is no limit
     */
    public Optional<Duration> remaining() {
        Deadline moment = deadlineOfCaller();
        return moment == null ? Optional.empty() : Optional.of(moment.hasPassed() ? Duration.ZERO : moment.remaining());
    }

    private @Nullable Deadline deadlineOfCaller() {
        for (EnclosingScope inside = innermost(); inside != null; inside = enclosureOf(inside)) {
            if (inside instanceof TimedTask task && task.scope() == this) {
                return task.deadline(); // which is earlier than that of the scope
            }
        }
        return deadline;
    }

    /**
     * Returns what has become of the tasks so far.
     *
     * @return the numbers, read in one moment
     */
    public ScopeMetrics metrics() {
        return gate.metrics();
    }

    /**
     * Returns what this scope is called.
     *
     * @return its name
     */
    public String name() {
        return name;
    }

    /**
     * Returns this scope's number.
     *
     * @return a number that no other scope of this JVM has
     */
    public long id() {
        return id;
    }

    /**
     * Returns where tasks run.
     *
     * @return the scheduler
     */
    public Scheduler scheduler() {
        return options.scheduler;
    }

    /**
     * Returns what a wait for several tasks does when one fails.
     *
     * @return the policy
     */
    public FailurePolicy failurePolicy() {
        return options.failurePolicy;
    }

    @Override
    public @Nullable Deadline deadline() {
        return deadline;
    }

    @Override
    protected @Nullable EnclosingScope around() {
        return enclosing;
    }

    @Override
    public String label() {
        return "scope \"" + name + "\"";
    }

    @Override
    public String toString() {
        ScopeMetrics now = metrics();
        String state = closed ? "closed" : gate.closed() != null ? "cancelled" : "open";
        return "scope \"" + name + "\", " + state + ", " + now.running() + " of " + now.submitted() + " tasks running";
    }

    // What a dump shows.

    Thread owner() {
        return owner;
    }

    @Nullable
    ThreadScope parent() {
        return parent;
    }

    Set<ThreadScope> inners() {
        Set<ThreadScope> all = nested;
        return all == null ? Set.of() : all;
    }

    /** Returns the tasks that have not ended: placed and running ones, waiting ones, then those scheduled for later. */
    List<ScopeRun<?>> unended() {
        List<ScopeRun<?>> all = new ArrayList<>(gate.all());
        Set<ScopeRun<?>> later = scheduled;
        if (later != null) {
            all.addAll(later);
        }
        return all;
    }

    // What the scope and its runs share.

    ScopeGate gate() {
        return gate;
    }

    TimeSource time() {
        return time;
    }

    long now() {
        return time.nanoTime();
    }

    long nextId() {
        return taskIds.incrementAndGet();
    }

    OffloadExecutor elsewhere() {
        return new OffloadExecutor(options.sink, time);
    }

    int defaultRank() {
        return options.defaultPriority.rank();
    }

    RetryPolicy retryPolicy() {
        return options.retryPolicy;
    }

    @Nullable
    TimeLimit limit(@Nullable Duration timeout) {
        return TimeLimit.of(time, timeout, this);
    }

    /** Captures what a task without a time limit of its own sees of the calling thread. */
    Surroundings capture() {
        TaskContext context = TaskContext.current();
        if (!options.propagation.isPlain()) {
            return captureIn(this);
        }
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        Known last = known;
        if (last == null || last.context() != context || last.seen().loader() != loader) {
            last = new Known(context, captureIn(this));
            known = last;
        }
        return last.seen();
    }

    private Surroundings captureIn(EnclosingScope inside) {
        return new Surroundings(
                options.propagation.capture(TaskContext.current().ofTask(inside)),
                Thread.currentThread().getContextClassLoader());
    }

    @Nullable
    TaskInfo infoOf(ScopeRun<?> run) {
        return options.hook == null
                ? null
                : new TaskInfo(id, run.id(), run.name(), Instant.now(), UserCode.textOf(options.scheduler));
    }

    void tellHook(String event, TaskInfo task, Consumer<ThreadHook> telling) {
        ThreadHook hears = options.hook;
        if (hears != null) {
            guard(event + " of the hook, for task \"" + task.name() + "\"", () -> telling.accept(hears));
        }
    }

    private void tellSubmitted(ScopeRun<?> run) {
        TaskListener hears = options.listener;
        if (hears != null) {
            guard("onSubmitted of the listener", () -> hears.onSubmitted(run));
        }
    }

    void tellStarted(ScopeRun<?> run, long waitNanos) {
        TaskListener hears = options.listener;
        if (hears != null) {
            guard("onStarted of the listener", () -> hears.onStarted(run, waitNanos));
        }
    }

    void tellSettled(ScopeRun<?> run, Outcome<?> outcome, long ranNanos) {
        TaskListener hears = options.listener;
        if (hears != null) {
            guard("onSettled of the listener", () -> hears.onSettled(run, outcome, ranNanos));
        }
    }

    private void timeThrew(Throwable failure) {
        options.sink.report("time source of scope \"" + name + "\"", failure);
    }

    /** Runs foreign code that must not change anything by throwing. */
    void guard(String source, Runnable foreign) {
        try {
            foreign.run();
        } catch (Throwable failure) {
            options.sink.report(source + " in scope \"" + name + "\"", failure);
        }
    }
}
