package dev.raddle.scope;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.StackRoom;
import dev.raddle.task.CancellationToken;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskPriority;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A block of code that no task outlives: when the block ends, every task that was submitted to the scope has ended.
 *
 * {@snippet :
 * static final ScopeOptions PAGE = ScopeOptions.defaults().withDeadline(Duration.ofSeconds(2));
 *
 * try (ThreadScope scope = ThreadScope.open("page", PAGE)) {
 *     Task<User> user = scope.submit("user", () -> users.load(id));
 *     Task<List<Order>> orders = scope.submit("orders", () -> orderService.of(id), Duration.ofMillis(200));
 *     scope.await(user, orders); // throws the first failure, and cancels the other task
 *     return render(user.await(), orders.await());
 * }
 * }
 *
 * <p>The thread that opens a scope owns it. The owner configures the scope, with {@link ScopeOptions} or before the
 * first task, and closes it. Any thread may call every other method, including the scope's own tasks. Setters that are
 * called in the head of a {@code try} statement may throw before the scope is assigned to a variable. A setter that
 * throws therefore closes the scope, unless others are open inside it. An argument expression that throws before the
 * setter is called leaves the scope open. Options have neither problem. Hooks, listeners and deferred actions are never
 * called under a lock.
 *
 * <p>A scope has no deadline unless one is set. A scope that is opened inside another, in the same thread or in one of
 * its tasks, has no more time than the outer scope has left, and no more than the task has left if the task has a
 * timeout. The same holds for everything that is submitted to a {@code GroupExecutor} from inside a scope. Cancelling a
 * scope cancels the scopes inside it.
 *
 * <p>Memory consistency effects: actions before a task is submitted <i>happen-before</i> the task; the task
 * <i>happens-before</i> the return of a wait for it and of {@link #close()}.
 */
public final class ThreadScope implements AutoCloseable {

    // ScopeTasks submits, starts and cancels the tasks. ScopeNode is this scope in its owner's thread and in the tree
    // of scopes, with its deadline, its cancellation and its end.

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
         * @throws Exception if there is no value; the exception is the failure of the task
         */
        R map(E element) throws Exception;
    }

    final ScopeNode node;
    final ScopeTasks tasks;

    private ThreadScope(@Nullable String name, ScopeOptions options) {
        this.node = new ScopeNode(this, name, options.settings);
        this.tasks = node.tasks;
        node.open();
    }

    /**
     * Opens a scope owned by the calling thread.
     *
     * @return a new scope, named by its number
     */
    public static ThreadScope open() {
        return new ThreadScope(null, ScopeOptions.defaults());
    }

    /**
     * Opens a scope owned by the calling thread.
     *
     * @param name the scope's name in messages and events
     * @return a new scope
     */
    public static ThreadScope open(String name) {
        return open(name, ScopeOptions.defaults());
    }

    /**
     * Opens a scope with options, owned by the calling thread. The options are complete and checked when the scope is
     * opened, so nothing can fail between the opening and the block that closes the scope.
     *
     * {@snippet :
     * static final ScopeOptions PAGES = ScopeOptions.defaults().withDeadline(Duration.ofSeconds(2));
     *
     * try (ThreadScope scope = ThreadScope.open("page", PAGES)) {
     *     return scope.awaitAll(scope.submit(() -> header(id)), scope.submit(() -> body(id)));
     * }
     * }
     *
     * @param name the scope's name in messages and events
     * @param options the settings
     * @return a new scope
     * @throws IllegalStateException if the options have another time source than the deadline of the enclosing scope
     */
    public static ThreadScope open(String name, ScopeOptions options) {
        return new ThreadScope(Objects.requireNonNull(name, "name"), Objects.requireNonNull(options, "options"));
    }

    /**
     * Returns the innermost scope that the calling thread is in: as its owner, in one of its tasks, or in a task that
     * was submitted from inside the scope to another executor.
     *
     * @return the innermost scope, or empty if there is none
     */
    public static Optional<ThreadScope> current() {
        for (EnclosingScope inside = EnclosingScope.innermost(); inside != null; inside = inside.enclosing()) {
            if (inside instanceof ScopeNode node) {
                return Optional.of(node.scope);
            }
        }
        return Optional.empty();
    }

    // Configuring.

    /** Changes the options. If that throws, closes this scope, which may be unreachable then. */
    private ThreadScope configure(String method, UnaryOperator<ScopeOptions> change) {
        tasks.requireOpen(method);
        if (tasks.begun) {
            throw new IllegalStateException(
                    method + " of " + node.label() + " came too late; call it before the first submit or schedule");
        }
        try {
            tasks.configure(change.apply(new ScopeOptions(tasks.options)).settings, node.deadline());
        } catch (Throwable refused) {
            node.endAfter(refused);
            throw refused;
        }
        return this;
    }

    /**
     * Sets the scheduler that runs the tasks; virtual threads by default. The scope never shuts it down; it takes a
     * lease of the scheduler and closes that when the scope is closed.
     *
     * @param where the scheduler
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withScheduler(Scheduler where) {
        return configure("withScheduler", all -> all.withScheduler(where));
    }

    /**
     * Sets the failure policy of waits for several tasks; {@link FailurePolicy#FAIL_FAST} by default.
     *
     * @param policy the policy
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withFailurePolicy(FailurePolicy policy) {
        return configure("withFailurePolicy", all -> all.withFailurePolicy(policy));
    }

    /**
     * Sets how often a task without a retry policy of its own is attempted; once by default.
     *
     * @param policy the policy
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withRetryPolicy(RetryPolicy policy) {
        return configure("withRetryPolicy", all -> all.withRetryPolicy(policy));
    }

    /**
     * Sets the priority of tasks without a priority of their own; {@link TaskPriority#NORMAL} by default. It orders the
     * tasks that wait for this scope's {@linkplain #withConcurrencyLimit limit}, and those in the queue of a
     * {@linkplain Scheduler#priority priority scheduler}. It has no other effect.
     *
     * @param priority the priority
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withDefaultTaskPriority(TaskPriority priority) {
        return configure("withDefaultTaskPriority", all -> all.withDefaultTaskPriority(priority));
    }

    /**
     * Sets how many tasks may run at once; unlimited by default. Further tasks wait, without a thread and without
     * blocking their submitter, by priority and then in order of submission.
     *
     * @param tasks the maximum number of running tasks, at least 1
     * @return this scope
     * @throws IllegalArgumentException if the limit is less than 1
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withConcurrencyLimit(int tasks) {
        return configure("withConcurrencyLimit", all -> all.withConcurrencyLimit(tasks));
    }

    /**
     * Sets how long the scope may take from now on. When that time is over, the scope's tasks are cancelled and
     * interrupted, and waits for them throw {@link ScopeTimeoutException}; scopes that are open inside it are
     * cancelled, also if their own deadlines are later. A scope inside another cannot extend the time that the outer
     * scope has left. If the length is zero or negative, the deadline has passed at once: all later tasks are cancelled
     * when they are submitted, and no later call changes that.
     *
     * @param length the time from now on
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withDeadline(Duration length) {
        return configure("withDeadline", all -> {
            ScopeOptions limited = all.withDeadline(length);
            node.limitTime(length);
            return limited;
        });
    }

    /**
     * Adds a hook. Hooks are notified in the order in which they were added.
     *
     * @param hook the hook to add
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope addHook(ThreadHook hook) {
        return configure("addHook", all -> all.addHook(hook));
    }

    /**
     * Adds a listener. It is notified of each task; the owner of a task is this scope's name.
     *
     * @param listener the listener to add
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope addListener(TaskListener listener) {
        return configure("addListener", all -> all.addListener(listener));
    }

    /**
     * Adds a propagator, which carries a further context, such as a logging context, into the tasks. Propagators are
     * installed in the order in which they were added and restored in the reverse order.
     *
     * @param propagator the propagator
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope addPropagator(ContextPropagator propagator) {
        return configure("addPropagator", all -> all.addPropagator(propagator));
    }

    /**
     * Adds a scoped value that each task inherits from its submitter.
     *
     * @param value the scoped value
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope addScopedValue(ScopedValue<?> value) {
        return configure("addScopedValue", all -> all.addScopedValue(value));
    }

    /**
     * Sets the sink for exceptions that must not affect a task: those thrown by hooks, listeners and propagators, and
     * reports about tasks that {@link #close()} waits for. By default they are
     * {@linkplain ExceptionSink#logging() logged}.
     *
     * @param target the sink
     * @return this scope
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withExceptionSink(ExceptionSink target) {
        return configure("withExceptionSink", all -> all.withExceptionSink(target));
    }

    /**
     * Sets the interval at which {@link #close()} reports to the sink the tasks that it still waits for; ten seconds by
     * default. It continues to wait in any case.
     *
     * @param length the interval, positive
     * @return this scope
     * @throws IllegalArgumentException if the length is not positive
     * @throws IllegalStateException if a task was submitted
     */
    public ThreadScope withPatience(Duration length) {
        return configure("withPatience", all -> new ScopeOptions(tasks.options.withPatience(node.label(), length)));
    }

    /**
     * Sets the time source. By default it is that of the enclosing scope's deadline, or else real time.
     *
     * @param source the time source
     * @return this scope
     * @throws IllegalStateException if a task was submitted, or the scope has a deadline that belongs to another time
     *     source
     */
    public ThreadScope withTimeSource(TimeSource source) {
        return configure("withTimeSource", all -> all.withTimeSource(source));
    }

    // Submitting.

    /**
     * Submits a task.
     *
     * @param <T> the type of the value
     * @param callable the callable to run
     * @return the task, named by its number
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(Callable<? extends T> callable) {
        Objects.requireNonNull(callable, "callable");
        begin(null);
        return tasks.submit(null, callable);
    }

    /**
     * Submits a task. This method never blocks, unless the scheduler runs tasks in the calling thread. If the scope was
     * cancelled, the task is cancelled at once.
     *
     * @param <T> the type of the value
     * @param name the name of the task
     * @param callable the callable to run
     * @return the task
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(String name, Callable<? extends T> callable) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(callable, "callable");
        begin(name);
        return tasks.submit(name, callable);
    }

    /**
     * Submits a task without a value.
     *
     * @param action the action to run
     * @return the task, named by its number
     * @throws IllegalStateException if this scope is closed
     */
    public Task<Void> submit(Runnable action) {
        return submit(TaskSpec.callable(action));
    }

    /**
     * Submits a task without a value.
     *
     * @param name the name of the task
     * @param action the action to run
     * @return the task
     * @throws IllegalStateException if this scope is closed
     */
    public Task<Void> submit(String name, Runnable action) {
        return submit(name, TaskSpec.callable(action));
    }

    /**
     * Submits a task with a timeout, which includes waiting and all attempts.
     *
     * @param <T> the type of the value
     * @param name the name of the task
     * @param callable the callable to run
     * @param timeout the longest time that the task may take from now on, positive
     * @return the task
     * @throws IllegalArgumentException if the timeout is not positive
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(String name, Callable<? extends T> callable, Duration timeout) {
        return submit(TaskSpec.<T>named(name, callable).timeout(timeout));
    }

    /**
     * Submits a task with settings of its own. Settings that it does not have are those of this scope. Costs and queue
     * timeouts are ignored: each task counts as one against the scope's limit.
     *
     * {@snippet :
     * Task<Rank> rank = scope.submit(
     *         TaskSpec.named("rank", () -> ranks.of(id)).priority(TaskPriority.HIGH).retry(RetryPolicy.attempts(3)));
     * }
     *
     * @param <T> the type of the value
     * @param spec the specification of the task
     * @return the task
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> submit(TaskSpec<T> spec) {
        begin(spec.name());
        RetryPolicy retry = spec.retry();
        return tasks.submit(
                spec.name(),
                spec.callable(),
                spec.priorityOr(tasks.options.priority.rank()),
                retry == null ? tasks.options.retry : ScopeSettings.nullIfUnneeded(retry),
                spec.timeout());
    }

    /** Ensures the room of a submission and that this scope is open, and takes a lease before the first task. */
    private void begin(@Nullable String taskName) {
        StackRoom.ensure();
        if (tasks.ended) {
            throw tasks.closedException(taskName == null ? "a task" : "task \"" + taskName + "\"");
        }
        if (!tasks.begun && tasks.begin()) {
            if (!tasks.onVirtualThreads) {
                node.takeLease();
            }
        }
    }

    /** Does the same for a call that submits several tasks or a later one. */
    private void beginWith(String what) {
        tasks.requireOpen(what);
        begin(null);
    }

    // Waiting.

    /**
     * Waits for tasks under the failure policy.
     *
     * @param first a task of this scope
     * @param rest further tasks of this scope
     * @return the counts and failures of these tasks
     * @throws InterruptedException as {@link #await(Collection)} does
     */
    public ScopeResult await(Task<?> first, Task<?>... rest) throws InterruptedException {
        List<Task<?>> all = new ArrayList<>(rest.length + 1);
        all.add(first);
        all.addAll(Arrays.asList(rest));
        return await(all);
    }

    /**
     * Waits for tasks under the {@linkplain #withFailurePolicy failure policy}. Under a policy that cancels on failure,
     * the first failure immediately cancels all other tasks of the scope, also those that are not waited for. Tasks
     * that are submitted later are not affected.
     *
     * @param tasks tasks of this scope
     * @return the counts and failures of these tasks
     * @throws RuntimeException under {@link FailurePolicy#FAIL_FAST}, the exception of the task that failed first, with
     *     later failures as suppressed exceptions; a checked exception is wrapped, as by {@link Task#await()}
     * @throws Error under {@link FailurePolicy#FAIL_FAST}, if the task that failed first threw an error
     * @throws AggregateException under {@link FailurePolicy#COLLECT_ALL}, if a task failed
     * @throws ScopeTimeoutException if the scope's deadline passed before one of the tasks had ended; other failures
     *     are suppressed exceptions of it
     * @throws IllegalArgumentException if a task belongs to another scope
     * @throws IllegalStateException if the caller is a task of this scope, and every task that the scope's limit lets
     *     run waits for another task of it
     * @throws InterruptedException if the calling thread is interrupted; the tasks continue
     */
    public ScopeResult await(Collection<? extends Task<?>> tasks) throws InterruptedException {
        return MultiWait.await(this.tasks, tasks);
    }

    /**
     * Waits for tasks, as {@link #await(Collection)} does, and returns their values.
     *
     * @param <T> the type of the values
     * @param first a task of this scope
     * @param rest further tasks of this scope
     * @return the values, in the order of the tasks
     * @throws InterruptedException if the calling thread is interrupted; the tasks continue
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
     * @throws CancelledException if a task was cancelled, under a policy that throws
     * @throws IllegalStateException if a task has no value, under a policy that does not throw, with the reason as its
     *     cause: use {@code await} and {@link Task#outcome()} with such a policy
     * @throws InterruptedException if the calling thread is interrupted; the tasks continue
     */
    public <T> List<T> awaitAll(Collection<? extends Task<? extends T>> tasks) throws InterruptedException {
        return MultiWait.awaitAll(this.tasks, tasks);
    }

    /**
     * Calls alternatives, each in a task of its own, and returns as soon as enough have succeeded for the strategy.
     * When this method returns or throws, the other alternatives have been cancelled and have ended.
     *
     * @param <T> the type of an alternative's value
     * @param <R> the type of the result
     * @param strategy the number of values needed, and the times at which the alternatives begin
     * @param alternatives the callables, at least as many as are needed
     * @return the result
     * @throws AggregateException as soon as so many alternatives have failed that too few are left
     * @throws ScopeTimeoutException if the scope's deadline passed first
     * @throws CancelledException if the scope was cancelled
     * @throws IllegalArgumentException if there are too few alternatives
     * @throws IllegalStateException if this scope is closed; or if the caller is a task of it, and every task that the
     *     scope's limit lets run waits for another task of it
     * @throws InterruptedException if the calling thread is interrupted; the alternatives have been cancelled and have
     *     ended; a further interrupt sets the interrupt status
     */
    public <T, R> R join(JoinStrategy<T, R> strategy, Collection<? extends Callable<? extends T>> alternatives)
            throws InterruptedException {
        List<Callable<? extends T>> all = List.copyOf(alternatives);
        if (all.size() < strategy.needed()) {
            throw new IllegalArgumentException(
                    strategy + " needs at least " + strategy.needed() + " alternatives, there are " + all.size());
        }
        beginWith("a join");
        return strategy.result(new Race<>(tasks, strategy, all).run());
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
     * @param strategy the number of values needed, and the times at which the alternatives begin
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
     * Calls a function for each element, each call in a task of its own, with a limited number of calls at once, and
     * returns the values. The scope's limit, retry policy, deadline and {@linkplain #withFailurePolicy failure policy}
     * apply, as for {@link #awaitAll(Collection)}. If the first failure cancels the other calls, no further calls
     * begin. When this method returns or throws, every call has ended.
     *
     * {@snippet :
     * List<User> users = scope.map(ids, 8, id -> directory.load(id));
     * }
     *
     * @param <E> the type of the elements
     * @param <R> the type of the values
     * @param elements the arguments of the calls; may be empty
     * @param limit the maximum number of calls at once, at least 1
     * @param function the function to call
     * @return the values, in the order of the elements; a value may be null
     * @throws AggregateException under {@link FailurePolicy#COLLECT_ALL}, if a call failed
     * @throws ScopeTimeoutException if the scope's deadline passed first
     * @throws CancelledException if the scope or a task was cancelled
     * @throws IllegalArgumentException if the limit is less than 1
     * @throws IllegalStateException if this scope is closed; if a call failed under a policy that does not throw; or if
     *     the caller is a task of this scope, and every task that the scope's limit lets run waits for another task of
     *     it
     * @throws InterruptedException if the calling thread is interrupted; the tasks have been cancelled and have ended;
     *     a further interrupt sets the interrupt status
     */
    public <E, R> List<R> map(Collection<? extends E> elements, int limit, Mapper<? super E, ? extends R> function)
            throws InterruptedException {
        if (limit < 1) {
            throw new IllegalArgumentException("limit of a map must be at least 1, was " + limit);
        }
        Objects.requireNonNull(function, "function");
        List<E> all = List.copyOf(elements);
        beginWith("a map");
        return new MapOperation<E, R>(tasks, all, limit, function).run();
    }

    // Scheduling.

    /**
     * Submits a task after a delay.
     *
     * @param <T> the type of the value
     * @param delay the delay; there is none if it is zero or negative
     * @param callable the callable to run
     * @return the task, pending until then
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Task<T> schedule(Duration delay, Callable<? extends T> callable) {
        beginWith("a scheduled task");
        return tasks.schedule(delay, callable);
    }

    /**
     * Submits a task without a value after a delay.
     *
     * @param delay the delay; there is none if it is zero or negative
     * @param action the action to run
     * @return the task, pending until then
     * @throws IllegalStateException if this scope is closed
     */
    public Task<Void> schedule(Duration delay, Runnable action) {
        return schedule(delay, TaskSpec.callable(action));
    }

    /**
     * Runs a job repeatedly, at moments that are a period apart. Rounds never overlap. A round begins at once if its
     * moment has passed: after a pause, or a round that took longer than the period, all missed rounds follow each
     * other without a pause. The job ends when a round throws, which is reported to the exception sink, or with the
     * scope.
     *
     * @param delay the delay before the first round; there is none if it is zero or negative
     * @param period the time between the beginnings of two rounds, positive
     * @param job the action to run, in a task of its own for each round
     * @return the job, pending until it ends
     * @throws IllegalArgumentException if the period is not positive
     * @throws IllegalStateException if this scope is closed
     */
    public Task<?> scheduleAtFixedRate(Duration delay, Duration period, Runnable job) {
        return schedulePeriodic(delay, period, job, PeriodicRun.Rhythm.FIXED_RATE);
    }

    /**
     * Runs a job repeatedly, as {@link #scheduleAtFixedRate} does, but skips missed rounds. If the moment of the next
     * round has passed when a round ends, the next one begins at the first of the following moments that has not.
     *
     * @param delay the delay before the first round; there is none if it is zero or negative
     * @param period the time between the beginnings of two rounds, positive
     * @param job the action to run, in a task of its own for each round
     * @return the job, pending until it ends
     * @throws IllegalArgumentException if the period is not positive
     * @throws IllegalStateException if this scope is closed
     */
    public Task<?> scheduleAtFixedRateSkippingMissed(Duration delay, Duration period, Runnable job) {
        return schedulePeriodic(delay, period, job, PeriodicRun.Rhythm.FIXED_RATE_SKIPPING);
    }

    /**
     * Runs a job repeatedly, with a fixed delay between two rounds. The job ends when a round throws, which is reported
     * to the exception sink, or with the scope.
     *
     * @param delay the delay before the first round; there is none if it is zero or negative
     * @param rest the time between the end of a round and the beginning of the next, positive
     * @param job the action to run, in a task of its own for each round
     * @return the job, pending until it ends
     * @throws IllegalArgumentException if the rest is not positive
     * @throws IllegalStateException if this scope is closed
     */
    public Task<?> scheduleWithFixedDelay(Duration delay, Duration rest, Runnable job) {
        return schedulePeriodic(delay, rest, job, PeriodicRun.Rhythm.FIXED_DELAY);
    }

    private Task<?> schedulePeriodic(Duration delay, Duration period, Runnable job, PeriodicRun.Rhythm rhythm) {
        Objects.requireNonNull(job, "job");
        if (!period.isPositive()) {
            throw new IllegalArgumentException("period of a job must be positive, was " + period);
        }
        beginWith("a repeated job");
        return PeriodicRun.submit(tasks, delay, job, period, rhythm);
    }

    /**
     * Opens a channel that closes with this scope. If the scope is cancelled or closed, or its deadline passes, while
     * the channel is open, the channel fails, because its values are incomplete.
     *
     * @param <T> the type of the values
     * @param capacity the maximum number of values that were sent and not yet received, at least 1
     * @return a new channel
     * @throws IllegalArgumentException if the capacity is less than 1
     * @throws IllegalStateException if this scope is closed
     */
    public <T> Channel<T> openChannel(int capacity) {
        tasks.requireOpen("a channel");
        Channel<T> channel = Channel.bounded(capacity);
        node.token().add(channel);
        return channel;
    }

    // Ending.

    /**
     * Cancels this scope: its tasks are cancelled, running ones are interrupted, and tasks that are submitted later are
     * cancelled at once. Does nothing if this scope was cancelled or closed before.
     *
     * @param reason the reason, as text for the exception's message
     */
    public void cancel(String reason) {
        node.cancel(reason);
    }

    /**
     * Defers an action until this scope closes and every task has ended. The owner runs the deferred actions in the
     * reverse order of their registration, each once.
     *
     * @param cleanUp the action to run
     * @throws IllegalStateException if this scope is closed
     */
    public void defer(Runnable cleanUp) {
        Objects.requireNonNull(cleanUp, "cleanUp");
        tasks.requireOpen("a deferred action");
        node.defer(cleanUp);
    }

    /**
     * Closes this scope. Cancels the tasks that have not ended, waits until every task has ended, however long that
     * takes, runs the {@linkplain #defer deferred} actions, and releases the scheduler. A task that does not end is
     * reported to the sink. If the calling thread is interrupted, it continues to wait, and its interrupt status is set
     * when this method returns. Closing a closed scope has no effect.
     *
     * @throws WrongThreadException if the caller is not the owner
     * @throws IllegalStateException if the caller is a task of this scope, which could never end
     * @throws StructureViolationException if scopes that the owner opened inside this one were still open; they and
     *     this one are closed nevertheless
     * @throws AggregateException if deferred actions threw; all of them have run
     */
    @Override
    public void close() {
        node.end();
    }

    // Inspecting.

    /**
     * Returns the cancellation token of this scope.
     *
     * @return the same token at every call
     */
    public CancellationToken token() {
        return node.token();
    }

    /**
     * Returns the time that is left until the scope's deadline or, if the caller is a task of this scope with a
     * timeout, until the task's deadline, whichever is earlier.
     *
     * @return the remaining time, zero if the deadline has passed; empty if there is none
     */
    public Optional<Duration> remaining() {
        Deadline moment = node.deadlineOfCaller();
        return moment == null ? Optional.empty() : Optional.of(moment.hasPassed() ? Duration.ZERO : moment.remaining());
    }

    /**
     * Returns the counts and durations of this scope's tasks so far.
     *
     * @return the metrics, read in one moment
     */
    public ScopeMetrics metrics() {
        return tasks.pending.metrics();
    }

    /** {@return the name of this scope} */
    public String name() {
        return tasks.name;
    }

    /**
     * Returns this scope's number.
     *
     * @return the number, which is unique in this JVM
     */
    public long id() {
        return tasks.id;
    }

    /** {@return the scheduler that runs the tasks} */
    public Scheduler scheduler() {
        return tasks.options.scheduler;
    }

    @Override
    public String toString() {
        ScopeMetrics now = metrics();
        String state = tasks.ended ? "closed" : tasks.pending.isClosed() ? "cancelled" : "open";
        return node.label() + ", " + state + ", " + now.running() + " of " + now.submitted() + " tasks running";
    }
}
