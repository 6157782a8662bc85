package dev.raddle.scope;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.io.Serial;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A block of code and the subtasks that it forks: none of them outlives the block. The API of JEP 462, on a JDK as it is.
 *
 * {@snippet :
 * try (var scope = new StructuredTaskScope.ShutdownOnFailure()) {
 *     Subtask<String> user = scope.fork(() -> findUser());
 *     Subtask<Integer> order = scope.fork(() -> fetchOrder());
 *     scope.join().throwIfFailed();
 *     return new Response(user.get(), order.get());
 * }
 * }
 *
 * <p>The thread that opens a scope owns it: it alone may join and close it. The owner may fork, and so may every thread inside
 * the scope: one that runs a subtask of it, or of a scope that was opened inside it. Whoever forks must join before the results
 * are read. A scope that was shut down starts nothing any more and interrupts what runs; {@link #close()} shuts down and waits.
 *
 * <p>Subtasks inherit the scoped values that were in force where the scope was opened. A fork under other ones is a
 * {@linkplain StructureViolationException structure violation}, and so is closing scopes in another order than the reverse
 * of their opening. The JDK's own scope finds that out, which serves as a container of threads below this one and shows it in
 * {@code jcmd Thread.dump_to_file}. Where there is none that fits, plain threads do; {@link #toString} says which.
 *
 * <p>Memory consistency effects: actions of a thread before it forks <i>happen-before</i> the subtask; those of the subtask
 * <i>happen-before</i> its result is read, and before a return from {@link #join} that waited for it to end.
 *
 * @param <T> what the subtasks return
 * @see <a href="https://openjdk.org/jeps/462">JEP 462: Structured Concurrency</a>
 */
public class StructuredTaskScope<T extends @Nullable Object> implements AutoCloseable {

    /*
     * Overview.
     *
     *   state     OPEN ──► SHUTDOWN ──► CLOSED      the first step by anyone inside, by compare-and-set; the second by the owner
     *   severed   the container was closed by the closing of a scope around this one; nothing starts any more
     *
     * Starting meets shutting down. A forker counts and lists a subtask, looks at the state, starts the thread, and looks at
     * the state again. Who shuts down writes the state and then interrupts all that are listed:
     *
     *   - listed before: the shutdown finds it and interrupts its thread, if it has one yet;
     *   - listed after, or without a thread then: its forker sees the state, and interrupts it, or does not start it.
     *
     * Both may find it; each subtask is interrupted once (see ForkedSubtask). One that was started always runs.
     *
     * Starting meets closing. The owner writes the state and then waits for the count to reach zero. A forker counts and then
     * reads the state. So either the owner waits for the subtask, or the forker does not start it; when the container is
     * closed, nobody is in it who could start something.
     *
     * Rounds. The owner's forks between two completed joins are a round. Three numbers, the owner's alone, say what it owes:
     *
     *   forkRound           of the last fork that started something; one after a completed join begins the next
     *   lastJoinAttempted   enough for close() not to complain
     *   lastJoinCompleted   enough for results to be read
     *
     * Inside. Which scope a thread is in is a scoped value, bound around each subtask. The scope that encloses another is the
     * last that its owner had opened, or else the one that its owner is in: the JDK's rule.
     */
    private static final int OPEN = 0;
    private static final int SHUTDOWN = 1;
    private static final int CLOSED = 2;

    private static final ScopedValue<StructuredTaskScope<?>> CURRENT = ScopedValue.newInstance();
    private static final VarHandle STATE;
    private static final VarHandle CHILDREN;
    private static final VarHandle INNERS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(StructuredTaskScope.class, "state", int.class);
            CHILDREN = lookup.findVarHandle(StructuredTaskScope.class, "children", Set.class);
            INNERS = lookup.findVarHandle(StructuredTaskScope.class, "inners", Map.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private final String name;
    private final ThreadFactory factory;
    private final StructuredScopeOptions options;
    private final Owner owner = Owner.current();
    private final @Nullable StructuredTaskScope<?> parent;
    private final @Nullable EnclosingScope enclosure = EnclosingScope.entered(); // which subtasks would not see otherwise
    private final Container container;
    private final Unfinished unfinished = new Unfinished();

    private ScopedValue.@Nullable Carrier inside; // made when needed; it does not matter who wins
    private volatile @Nullable Set<StructuredTaskScope<?>> children; // made when needed
    private volatile @Nullable Map<Thread, JdkContainer.Inner> inners; // made when needed

    private volatile int state;
    private volatile boolean severed;

    private int forkRound; // owner only, like those below
    private int lastJoinAttempted;
    private int lastJoinCompleted;

    /**
     * Opens a scope, owned by the calling thread.
     *
     * @param name what it is called in dumps and messages; null for its identity
     * @param factory makes a thread for each subtask, called by the thread that forks
     */
    public StructuredTaskScope(@Nullable String name, ThreadFactory factory) {
        this(name, Objects.requireNonNull(factory, "factory"), StructuredScopeOptions.defaults());
    }

    /** Opens a scope without a name whose subtasks run in virtual threads. It is owned by the calling thread. */
    public StructuredTaskScope() {
        this(null, StructuredScopeOptions.defaults().threadFactory(), StructuredScopeOptions.defaults());
    }

    /**
     * Opens a scope with options that JEP 462 does not have. It is owned by the calling thread.
     *
     * @param options how it shall be
     */
    public StructuredTaskScope(StructuredScopeOptions options) {
        this(options.name(), options.threadFactory(), options);
    }

    @SuppressWarnings("this-escape") // to what is opened here, which asks it for no more than what is set by then
    private StructuredTaskScope(@Nullable String name, ThreadFactory factory, StructuredScopeOptions options) {
        this.name = name == null ? Objects.toIdentityString(this) : name;
        this.factory = factory;
        this.options = options;
        StructuredTaskScope<?> enclosing = owner.innermost();
        this.parent = enclosing == null ? ofCaller() : enclosing;
        this.container = openContainer();
        owner.push(this);
        if (parent != null) {
            parent.adopt(this);
        }
    }

    private Container openContainer() {
        if (options.scheduler() != null) {
            return new SchedulerContainer(options.scheduler(), options.inherited());
        }
        String absence = options.plainThreads() ? "plain threads were asked for" : JdkScope.absence();
        if (absence == null) {
            try {
                return new JdkContainer(this);
            } catch (RuntimeException | LinkageError refused) {
                absence = "the JDK refused to open a scope: " + refused;
            }
        }
        return new PlainContainer(this, options.inherited(), absence);
    }

    /**
     * Opens a scope that succeeds if all its subtasks do.
     *
     * @param <T> what the subtasks return
     * @return a new scope, owned by the calling thread, whose {@code join()} returns null or throws {@link FailedException}
     */
    @SuppressWarnings("NullAway") // Void is null
    public static <T extends @Nullable Object> JoinedScope<T, Void> open() {
        return open(Joiner.<T>awaitAllSuccessfulOrThrow());
    }

    /**
     * Opens a scope with a policy.
     *
     * @param <T> what the subtasks return
     * @param <R> what {@code join()} returns
     * @param joiner the policy, for this scope only
     * @return a new scope, owned by the calling thread
     */
    public static <T extends @Nullable Object, R extends @Nullable Object> JoinedScope<T, R> open(
            Joiner<? super T, ? extends R> joiner) {
        return open(joiner, Function.identity());
    }

    /**
     * Opens a scope with a policy, and a name, a timeout or a thread factory.
     *
     * {@snippet :
     * try (var scope = StructuredTaskScope.open(
     *         Joiner.<Quote>anySuccessfulOrThrow(),
     *         config -> config.withName("quotes").withTimeout(Duration.ofMillis(200)))) {
     *     providers.forEach(provider -> scope.fork(provider::quote));
     *     return scope.join();
     * }
     * }
     *
     * @param <T> what the subtasks return
     * @param <R> what {@code join()} returns
     * @param joiner the policy, for this scope only
     * @param configuration changes the default configuration
     * @return a new scope, owned by the calling thread
     */
    public static <T extends @Nullable Object, R extends @Nullable Object> JoinedScope<T, R> open(
            Joiner<? super T, ? extends R> joiner,
            Function<? super Configuration, ? extends Configuration> configuration) {
        Objects.requireNonNull(joiner, "joiner");
        return JoinedScope.open(joiner, configuration.apply(JoinedScope.Settings.DEFAULTS));
    }

    /**
     * Starts a thread for a subtask. The owner may call this, and every thread inside this scope.
     *
     * {@snippet :
     * Subtask<String> user = scope.fork(() -> findUser());
     * scope.join();
     * String name = user.get();
     * }
     *
     * <p>If this scope is shut down, the subtask never runs, its state stays {@code UNAVAILABLE}, and nobody need join for it.
     * Otherwise it runs, even if a shutdown follows at once; it then finds itself interrupted. A class that overrides this must
     * call it.
     *
     * @param <U> what the task returns
     * @param task what to call
     * @return the subtask
     * @throws IllegalStateException if this scope is closed
     * @throws WrongThreadException if the caller is neither the owner nor inside this scope
     * @throws StructureViolationException if other scoped values are in force than where this scope was opened, or, in a
     *     subtask that forks, than where that began
     * @throws RejectedExecutionException if the thread factory returned null, or the scheduler did not accept the subtask; the
     *     scope goes on as if there had been no fork
     */
    public <U extends T> Subtask<U> fork(Callable<? extends U> task) {
        Objects.requireNonNull(task, "task");
        ensureNotClosed("fork");
        boolean owned = owner.isCurrentThread();
        if (!owned) {
            ensureInside("fork");
        }
        int round = !owned ? -1 : forkRound == lastJoinCompleted ? forkRound + 1 : forkRound;
        ForkedSubtask<U> subtask = create(task, round);
        boolean started = start(subtask);
        if (owned && started) {
            forkRound = round;
        }
        return subtask;
    }

    final <U extends T> ForkedSubtask<U> create(Callable<? extends U> task, int round) {
        return options.scheduler() == null
                ? new ForkedSubtask<>(this, task, round, unfinished.moment(options.time()))
                : new PlacedSubtask<>(this, task, round, options.time().nanoTime());
    }

    /** Starts a subtask. Returns false if it will never run, since this scope is shut down or was severed. */
    final boolean start(ForkedSubtask<?> subtask) {
        if (state != OPEN) {
            return false; // nobody will ask whether it has ended
        }
        unfinished.add(subtask, owner.isCurrentThread());
        if (state != OPEN || severed) {
            subtask.abandon();
            return false;
        }
        subtask.observe(options);
        boolean started = false;
        try {
            container.start(subtask);
            started = !subtask.isRefused();
        } finally {
            if (!started) {
                subtask.abandon();
            }
        }
        if (state != OPEN) {
            subtask.stop();
        }
        return started;
    }

    /**
     * Waits until every subtask has ended or this scope is shut down. Only the owner may call this.
     *
     * <p>A class that overrides this must call it.
     *
     * @return this scope
     * @throws IllegalStateException if this scope is closed; or if the owner is a task of a group in which a subtask waits that
     *     could never begin, because every slot of the group is taken by one that waits like this
     * @throws WrongThreadException if the caller is not the owner
     * @throws InterruptedException if the owner was interrupted before or while it waited; no subtask is interrupted for that,
     *     and one may join again
     */
    public StructuredTaskScope<T> join() throws InterruptedException {
        beginJoin();
        awaitForLong();
        completeJoin();
        return this;
    }

    /**
     * Waits until every subtask has ended, or this scope is shut down, or a moment has come. Only the owner may call this.
     *
     * {@snippet :
     * scope.joinUntil(Instant.now().plusMillis(200));
     * }
     *
     * <p>A class that overrides this must call it.
     *
     * @param deadline a moment on the wall clock; one that has passed does not wait
     * @return this scope
     * @throws IllegalStateException if this scope is closed
     * @throws WrongThreadException if the caller is not the owner
     * @throws InterruptedException if the owner was interrupted before or while it waited; no subtask is interrupted for that,
     *     and one may join again
     * @throws TimeoutException if the moment came first; nothing is cancelled for that, and one may join again
     */
    public StructuredTaskScope<T> joinUntil(Instant deadline) throws InterruptedException, TimeoutException {
        Duration timeout = Duration.between(Instant.now(), deadline);
        beginJoin();
        if (!owner.await(this, false, Deadline.after(options.time(), timeout))) {
            throw new TimeoutException("scope \"" + name + "\" was to be joined until " + deadline + "; "
                    + unfinished.count() + " subtasks go on");
        }
        completeJoin();
        return this;
    }

    /** Waits for as long as it takes; fails rather than to wait in a task for subtasks that could never begin. */
    final void awaitForLong() throws InterruptedException {
        Thread waiter = owner.thread();
        List<PlacedSubtask<?>> noted = new ArrayList<>();
        try {
            if (!isQuiet(false) && options.scheduler() != null) {
                unfinished.forEach(each -> {
                    if (each instanceof PlacedSubtask<?> placed && placed.beginWait(waiter)) {
                        noted.add(placed);
                    }
                });
            }
            owner.await(this, false);
        } finally {
            noted.forEach(each -> each.endWait(waiter));
        }
    }

    final void beginJoin() {
        ensureOwner("join");
        lastJoinAttempted = forkRound;
        ensureNotClosed("join");
    }

    private void completeJoin() {
        completeJoin(forkRound);
    }

    final void completeJoin(int round) {
        unfinished.forgetIfNone();
        lastJoinCompleted = round;
    }

    /**
     * Shuts this scope down without closing it: nothing starts any more, all threads in it are interrupted but the caller's,
     * and the owner returns from joining. The owner may call this, and every thread inside this scope.
     *
     * <p>Results of subtasks that end later are lost; {@link #handleComplete} does not hear of them. With a scheduler, subtasks
     * that have not begun leave its queue. This method waits for nobody, {@link #close()} does. Called again, it does nothing.
     * A class that overrides this must call it.
     *
     * @throws IllegalStateException if this scope is closed
     * @throws WrongThreadException if the caller is neither the owner nor inside this scope
     */
    public void shutdown() {
        if (!owner.isCurrentThread()) {
            ensureInside("shut down");
        }
        ensureNotClosed("shut down");
        stop();
    }

    /** Shuts down. Returns false if somebody has done so. */
    final boolean stop() {
        if (!STATE.compareAndSet(this, OPEN, SHUTDOWN)) {
            return false;
        }
        unfinished.forEach(ForkedSubtask::stop);
        owner.wake();
        return true;
    }

    /**
     * Tells whether this scope is shut down.
     *
     * @return true from {@link #shutdown()} or {@link #close()} on
     */
    public final boolean isShutdown() {
        return state != OPEN;
    }

    /**
     * Shuts this scope down if nobody has, waits for all subtasks to end, and closes it. Only the owner may call this.
     *
     * <p>An interrupt does not end the waiting; the interrupt status is kept. Subtasks that go on for longer than the
     * {@linkplain StructuredScopeOptions#stragglerPatience() patience} are named to the sink, once. On a closed scope this does
     * nothing. If scopes that were opened later are still open, their threads are waited for and they start nothing any more. A
     * class that overrides this must call it.
     *
     * @throws IllegalStateException if the owner has forked and not tried to join since; this scope is closed all the same
     * @throws WrongThreadException if the caller is not the owner
     * @throws StructureViolationException if scopes opened later were still open, or scoped values are in force that were bound
     *     later; this scope is closed all the same
     */
    @Override
    public void close() {
        ensureOwner("close");
        if (state == CLOSED) {
            return;
        }
        stop();
        boolean interrupted = awaitStragglers();
        interrupted |= Thread.interrupted(); // the container is not to hear of it
        try {
            boolean inOrder = owner.pop(this);
            container.close();
            if (!inOrder) {
                throw new StructureViolationException("scopes close in the reverse order of their opening; \"" + name
                        + "\" was closed before one inside it");
            }
        } finally {
            state = CLOSED;
            unfinished.forgetIfNone();
            if (parent != null) {
                parent.disown(this);
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        if (forkRound > lastJoinAttempted) {
            lastJoinCompleted = forkRound;
            throw notJoined();
        }
    }

    /** Waits for all bodies, and tells of those that take long. Returns true if the owner was interrupted. */
    private boolean awaitStragglers() {
        boolean interrupted = false;
        boolean told = false;
        Deadline patience = null;
        while (unfinished.count() > 0) {
            try {
                if (told) {
                    owner.await(this, true);
                    continue;
                }
                if (patience == null) {
                    patience = Deadline.after(options.time(), options.stragglerPatience());
                }
                if (!owner.await(this, true, patience)) {
                    told = true;
                    unfinished.forEach(this::tellOf);
                }
            } catch (InterruptedException interrupt) {
                interrupted = true;
            } catch (Throwable noAlarm) {
                told = true;
                options.sink().report("time source of scope \"" + name + "\", which reports no stragglers", noAlarm);
            }
        }
        return interrupted;
    }

    private void tellOf(ForkedSubtask<?> straggler) {
        IllegalStateException where = new IllegalStateException("subtask " + straggler.name() + " of scope \"" + name
                + "\" goes on " + options.stragglerPatience().toMillis()
                + " ms after the scope began to close, and keeps it open; it was forked "
                + ageMillis(straggler) + " ms ago. It should end when it is interrupted");
        Thread runner = straggler.thread;
        where.setStackTrace(runner == null ? new StackTraceElement[0] : runner.getStackTrace());
        options.sink().report("straggler in scope \"" + name + "\"", where);
    }

    /** Has nothing started here any more, and waits for what runs: a scope around this one is closed, in the same thread. */
    final void sever() {
        severed = true;
        boolean interrupted = false;
        while (unfinished.count() > 0) {
            try {
                owner.await(this, true);
            } catch (InterruptedException interrupt) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Hears of each subtask that has succeeded or failed, in the thread that ran it, unless this scope was shut down before.
     * Must be safe for many threads at once. What it throws goes to that thread's uncaught exception handler.
     *
     * @param subtask has ended
     * @throws IllegalArgumentException if it has not
     */
    protected void handleComplete(Subtask<? extends T> subtask) {
        ensureComplete(subtask);
    }

    static void ensureComplete(Subtask<?> subtask) {
        if (subtask.state() == Subtask.State.UNAVAILABLE) {
            throw new IllegalArgumentException("a completed subtask is SUCCESS or FAILED, this is " + subtask);
        }
    }

    /**
     * Ensures that the caller is the owner and has joined since it forked: for methods of subclasses that read results.
     *
     * @throws WrongThreadException if the caller is not the owner
     * @throws IllegalStateException if this scope is open and the owner has not completed a join since it forked
     */
    protected final void ensureOwnerAndJoined() {
        ensureOwner("read results");
        if (state != CLOSED && forkRound > lastJoinCompleted) {
            throw notJoined();
        }
    }

    final void ensureJoinedIfOwner(int round) {
        if (round > lastJoinCompleted && owner.isCurrentThread()) {
            throw notJoined();
        }
    }

    final void ensureOwner(String action) {
        if (!owner.isCurrentThread()) {
            throw new WrongThreadException("only its owner, " + owner.thread() + ", may " + action + " scope \"" + name
                    + "\"; this is " + Thread.currentThread());
        }
    }

    private void ensureInside(String action) {
        for (StructuredTaskScope<?> each = ofCaller(); each != null; each = each.parent) {
            if (each == this) {
                return;
            }
        }
        throw new WrongThreadException("only its owner, " + owner.thread() + ", and threads inside may " + action
                + " scope \"" + name + "\"; this is " + Thread.currentThread());
    }

    private void ensureNotClosed(String action) {
        if (state == CLOSED) {
            throw new IllegalStateException("scope \"" + name + "\" is closed; " + action + " inside its try block");
        }
    }

    private IllegalStateException notJoined() {
        return new IllegalStateException(
                "the owner of scope \"" + name + "\" has forked and not joined since; call join() first");
    }

    /** Returns the scope that the calling thread runs a subtask of, or null. */
    static @Nullable StructuredTaskScope<?> ofCaller() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** Adds what the owner is inside of, if its scoped values do not say so. Called in a subtask's thread. */
    final ScopedValue.Carrier enclosing(ScopedValue.Carrier values) {
        return enclosure == null
                ? values
                : values.where(TaskContext.scopedValue(), TaskContext.current().ofTask(enclosure));
    }

    /** Returns what makes a thread one inside this scope. */
    final ScopedValue.Carrier inside() {
        ScopedValue.Carrier known = inside;
        if (known == null) {
            known = ScopedValue.where(CURRENT, this);
            inside = known;
        }
        return known;
    }

    final Thread newThread(Runnable run) {
        Thread thread = factory.newThread(run);
        if (thread == null) {
            throw new RejectedExecutionException(
                    "the thread factory of scope \"" + name + "\" returned null: it accepts no more subtasks");
        }
        return thread;
    }

    /** Counts a subtask that has ended. In a container that tells the owner when it is empty, nobody else need do so. */
    final void ended(boolean abandoned) {
        unfinished.end();
        if ((abandoned || !container.wakesOwner()) && unfinished.count() == 0) {
            owner.wake();
        }
    }

    /** Called by a thread that has run a subtask. Never throws. */
    final void leave(Thread runner) {
        Map<Thread, JdkContainer.Inner> known = inners;
        JdkContainer.Inner inner = known == null ? null : known.remove(runner);
        if (inner != null) {
            try {
                inner.close();
            } catch (Throwable violation) {
                sink().report("closing of what a subtask of scope \"" + name + "\" has forked", violation);
            }
        }
    }

    final JdkContainer.@Nullable Inner innerOf(Thread runner) {
        Map<Thread, JdkContainer.Inner> known = inners;
        return known == null ? null : known.get(runner);
    }

    final void innerOf(Thread runner, JdkContainer.Inner inner) {
        if (inners == null) {
            INNERS.compareAndSet(this, null, new ConcurrentHashMap<>());
        }
        Objects.requireNonNull(inners).put(runner, inner);
    }

    private void adopt(StructuredTaskScope<?> child) {
        if (children == null) {
            CHILDREN.compareAndSet(this, null, ConcurrentHashMap.newKeySet());
        }
        Objects.requireNonNull(children).add(child);
    }

    private void disown(StructuredTaskScope<?> child) {
        Objects.requireNonNull(children).remove(child);
    }

    final Collection<StructuredTaskScope<?>> children() {
        Set<StructuredTaskScope<?>> known = children;
        return known == null ? List.of() : known;
    }

    final boolean isQuiet(boolean closing) {
        return unfinished.count() == 0 || (!closing && state != OPEN);
    }

    /**
     * Looks for threads that have died without running their subtasks. Called by the owner when the JDK's container may have
     * become empty; if it has not, it will wake the owner again. A platform thread leaves the container before it is dead.
     */
    final void abandonDead() {
        ForkedSubtask<?> alive = unfinished.abandonDead();
        Thread dying = alive == null || !alive.isWaiting() ? null : alive.thread;
        if (dying != null && !dying.isVirtual()) {
            Thread.startVirtualThread(() -> abandonWhenDead(dying));
        }
    }

    private void abandonWhenDead(Thread dying) {
        try {
            dying.join();
        } catch (InterruptedException nobodyKnowsThisThread) {
            Thread.currentThread().interrupt();
        }
        unfinished.abandonDead();
        owner.wake();
    }

    final Unfinished unfinished() {
        return unfinished;
    }

    final Owner owner() {
        return owner;
    }

    final @Nullable StructuredTaskScope<?> parent() {
        return parent;
    }

    /** Returns the scope that this one's owner had opened last before this one, if that is open. */
    final @Nullable StructuredTaskScope<?> enclosingHere() {
        return parent != null && parent.owner == owner ? parent : null;
    }

    final String name() {
        return name;
    }

    final Container container() {
        return container;
    }

    final ExceptionSink sink() {
        return options.sink();
    }

    final TimeSource time() {
        return options.time();
    }

    final long ageMillis(ForkedSubtask<?> subtask) {
        return (options.time().nanoTime() - subtask.forkedAt) / 1_000_000;
    }

    /**
     * Returns the name of this scope, what became of it, and what its threads are started by.
     *
     * @return for people, such as {@code checkout/shutdown (JDK scope)}
     */
    @Override
    public String toString() {
        String became = switch (state) {
            case OPEN -> "";
            case SHUTDOWN -> "/shutdown";
            default -> "/closed";
        };
        return name + became + " (" + container + ")";
    }

    /**
     * A forked subtask. It never blocks.
     *
     * @param <T> what its task returns
     */
    public sealed interface Subtask<T extends @Nullable Object> extends Supplier<T> permits ForkedSubtask {

        /** What is known of a subtask. */
        enum State {
            /** It has not ended, or ended after its scope was shut down, or was never started. */
            UNAVAILABLE,
            /** Its task has returned. This does not change any more. */
            SUCCESS,
            /** Its task has thrown. This does not change any more. */
            FAILED
        }

        /**
         * Returns what was forked.
         *
         * @return the same object
         */
        Callable<? extends T> task();

        /**
         * Returns what is known now.
         *
         * @return the state
         */
        State state();

        /**
         * Returns what the task has returned.
         *
         * @return the result, which is null if the task returned null
         * @throws IllegalStateException if the state is not {@code SUCCESS}, or the caller is the owner, forked this subtask and
         *     has not joined since
         */
        @Override
        T get();

        /**
         * Returns what the task has thrown.
         *
         * @return the exception or error
         * @throws IllegalStateException if the state is not {@code FAILED}, or the caller is the owner, forked this subtask and
         *     has not joined since
         */
        Throwable exception();
    }

    /**
     * A scope that shuts down when a subtask succeeds, and keeps the first result.
     *
     * {@snippet :
     * try (var scope = new StructuredTaskScope.ShutdownOnSuccess<String>()) {
     *     mirrors.forEach(mirror -> scope.fork(() -> fetch(mirror)));
     *     return scope.join().result();
     * }
     * }
     *
     * @param <T> what the subtasks return
     */
    public static final class ShutdownOnSuccess<T extends @Nullable Object> extends StructuredTaskScope<T> {

        private static final VarHandle FIRST_SUCCESS;
        private static final VarHandle FIRST_FAILURE;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                FIRST_SUCCESS = lookup.findVarHandle(ShutdownOnSuccess.class, "firstSuccess", Subtask.class);
                FIRST_FAILURE = lookup.findVarHandle(ShutdownOnSuccess.class, "firstFailure", Throwable.class);
            } catch (ReflectiveOperationException impossible) {
                throw new ExceptionInInitializerError(impossible);
            }
        }

        private volatile @Nullable Subtask<? extends T> firstSuccess;
        private volatile @Nullable Throwable firstFailure;

        /**
         * Opens a scope, owned by the calling thread.
         *
         * @param name what it is called in dumps and messages; null for its identity
         * @param factory makes a thread for each subtask
         */
        public ShutdownOnSuccess(@Nullable String name, ThreadFactory factory) {
            super(name, factory);
        }

        /** Opens a scope without a name whose subtasks run in virtual threads. It is owned by the calling thread. */
        public ShutdownOnSuccess() {}

        /**
         * Opens a scope with options that JEP 462 does not have. It is owned by the calling thread.
         *
         * @param options how it shall be
         */
        public ShutdownOnSuccess(StructuredScopeOptions options) {
            super(options);
        }

        @Override
        protected void handleComplete(Subtask<? extends T> subtask) {
            if (firstSuccess != null) {
                return;
            }
            if (subtask.state() == Subtask.State.SUCCESS) {
                if (FIRST_SUCCESS.compareAndSet(this, null, subtask)) {
                    stop();
                }
            } else if (firstFailure == null) {
                FIRST_FAILURE.compareAndSet(this, null, subtask.exception());
            }
        }

        @Override
        public ShutdownOnSuccess<T> join() throws InterruptedException {
            super.join();
            return this;
        }

        @Override
        public ShutdownOnSuccess<T> joinUntil(Instant deadline) throws InterruptedException, TimeoutException {
            super.joinUntil(deadline);
            return this;
        }

        /**
         * Returns the result of the first subtask that succeeded. Only the owner may call this, after joining.
         *
         * @return the result, which is null if the task returned null
         * @throws ExecutionException if none succeeded and one failed; the first failure is the cause
         * @throws IllegalStateException if no subtask has completed, or the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public T result() throws ExecutionException {
            return result(ExecutionException::new);
        }

        /**
         * Returns the result of the first subtask that succeeded. Only the owner may call this, after joining.
         *
         * @param <X> what is thrown if none did
         * @param esf makes it from the first failure
         * @return the result, which is null if the task returned null
         * @throws X if none succeeded and one failed
         * @throws IllegalStateException if no subtask has completed, or the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public <X extends Throwable> T result(Function<Throwable, ? extends X> esf) throws X {
            Objects.requireNonNull(esf, "esf");
            ensureOwnerAndJoined();
            Subtask<? extends T> success = firstSuccess;
            if (success != null) {
                return success.get();
            }
            Throwable failure = firstFailure;
            if (failure != null) {
                throw Objects.requireNonNull(esf.apply(failure), "esf returned null");
            }
            throw new IllegalStateException("no subtask of scope \"" + name() + "\" has completed; there is no result");
        }
    }

    /**
     * A scope that shuts down when a subtask fails, and keeps the first failure.
     *
     * {@snippet :
     * try (var scope = new StructuredTaskScope.ShutdownOnFailure()) {
     *     var left = scope.fork(() -> left());
     *     var right = scope.fork(() -> right());
     *     scope.join().throwIfFailed();
     *     return left.get() + right.get();
     * }
     * }
     */
    public static final class ShutdownOnFailure extends StructuredTaskScope<@Nullable Object> {

        private static final VarHandle FIRST_FAILURE;

        static {
            try {
                FIRST_FAILURE =
                        MethodHandles.lookup().findVarHandle(ShutdownOnFailure.class, "firstFailure", Throwable.class);
            } catch (ReflectiveOperationException impossible) {
                throw new ExceptionInInitializerError(impossible);
            }
        }

        private volatile @Nullable Throwable firstFailure;

        /**
         * Opens a scope, owned by the calling thread.
         *
         * @param name what it is called in dumps and messages; null for its identity
         * @param factory makes a thread for each subtask
         */
        public ShutdownOnFailure(@Nullable String name, ThreadFactory factory) {
            super(name, factory);
        }

        /** Opens a scope without a name whose subtasks run in virtual threads. It is owned by the calling thread. */
        public ShutdownOnFailure() {}

        /**
         * Opens a scope with options that JEP 462 does not have. It is owned by the calling thread.
         *
         * @param options how it shall be
         */
        public ShutdownOnFailure(StructuredScopeOptions options) {
            super(options);
        }

        @Override
        protected void handleComplete(Subtask<?> subtask) {
            if (subtask.state() == Subtask.State.FAILED
                    && firstFailure == null
                    && FIRST_FAILURE.compareAndSet(this, null, subtask.exception())) {
                stop();
            }
        }

        @Override
        public ShutdownOnFailure join() throws InterruptedException {
            super.join();
            return this;
        }

        @Override
        public ShutdownOnFailure joinUntil(Instant deadline) throws InterruptedException, TimeoutException {
            super.joinUntil(deadline);
            return this;
        }

        /**
         * Returns what the first subtask that failed has thrown. Only the owner may call this, after joining.
         *
         * @return the exception, or empty if no subtask failed
         * @throws IllegalStateException if the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public Optional<Throwable> exception() {
            ensureOwnerAndJoined();
            return Optional.ofNullable(firstFailure);
        }

        /**
         * Throws if a subtask failed. Only the owner may call this, after joining.
         *
         * @throws ExecutionException if one failed; the first failure is the cause
         * @throws IllegalStateException if the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public void throwIfFailed() throws ExecutionException {
            throwIfFailed(ExecutionException::new);
        }

        /**
         * Throws if a subtask failed. Only the owner may call this, after joining.
         *
         * @param <X> what is thrown
         * @param esf makes it from the first failure
         * @throws X if a subtask failed
         * @throws IllegalStateException if the owner has not joined since it forked
         * @throws WrongThreadException if the caller is not the owner
         */
        public <X extends Throwable> void throwIfFailed(Function<Throwable, ? extends X> esf) throws X {
            Objects.requireNonNull(esf, "esf");
            ensureOwnerAndJoined();
            Throwable failure = firstFailure;
            if (failure != null) {
                throw Objects.requireNonNull(esf.apply(failure), "esf returned null");
            }
        }
    }

    /**
     * What {@code join()} of a {@link JoinedScope} waits for and returns: the policy of one scope, not to be shared or reused.
     *
     * @param <T> what the subtasks return
     * @param <R> what {@code join()} returns
     * @see <a href="https://openjdk.org/jeps/505">JEP 505: Structured Concurrency</a>
     */
    @FunctionalInterface
    public interface Joiner<T extends @Nullable Object, R extends @Nullable Object> {

        /**
         * Hears of a subtask before it is started, in the owner's thread; of one that is not, too.
         *
         * @param subtask is {@code UNAVAILABLE}
         * @return true to shut the scope down
         * @throws IllegalArgumentException if it is not
         */
        default boolean onFork(Subtask<? extends T> subtask) {
            if (subtask.state() != Subtask.State.UNAVAILABLE) {
                throw new IllegalArgumentException("a subtask just forked is UNAVAILABLE, this is " + subtask);
            }
            return false;
        }

        /**
         * Hears of a subtask that has ended, in its thread, unless the scope was shut down before. Must be safe for many
         * threads at once.
         *
         * @param subtask is {@code SUCCESS} or {@code FAILED}
         * @return true to shut the scope down
         * @throws IllegalArgumentException if it is not
         */
        default boolean onComplete(Subtask<? extends T> subtask) {
            ensureComplete(subtask);
            return false;
        }

        /**
         * Makes the result, in the owner's thread, when all subtasks have ended or the scope is shut down.
         *
         * @return what {@code join()} returns
         * @throws Throwable the cause of what {@code join()} throws
         */
        R result() throws Throwable;

        /**
         * Waits for all subtasks, and shuts down when one fails.
         *
         * @param <T> what the subtasks return
         * @return a joiner whose result are all subtasks in the order of their forks, or else the first failure
         */
        static <T extends @Nullable Object> Joiner<T, Stream<Subtask<T>>> allSuccessfulOrThrow() {
            return new Joiners.AllSuccessful<>();
        }

        /**
         * Shuts down when one succeeds.
         *
         * @param <T> what the subtasks return
         * @return a joiner whose result is the first one's, or else the first failure, or {@code NoSuchElementException}
         */
        static <T extends @Nullable Object> Joiner<T, T> anySuccessfulOrThrow() {
            return new Joiners.AnySuccessful<>();
        }

        /**
         * Shuts down when one succeeds: the name that {@link #anySuccessfulOrThrow()} has in JDK 25.
         *
         * @param <T> what the subtasks return
         * @return a joiner whose result is the first one's, or else the first failure, or {@code NoSuchElementException}
         */
        static <T extends @Nullable Object> Joiner<T, T> anySuccessfulResultOrThrow() {
            return anySuccessfulOrThrow();
        }

        /**
         * Waits for all subtasks, and shuts down when one fails.
         *
         * @param <T> what the subtasks return
         * @return a joiner whose result is null, or else the first failure
         */
        static <T extends @Nullable Object> Joiner<T, Void> awaitAllSuccessfulOrThrow() {
            return new Joiners.AwaitSuccessful<>();
        }

        /**
         * Waits for all subtasks, whatever becomes of them.
         *
         * @param <T> what the subtasks return
         * @return a joiner whose result is null
         */
        static <T extends @Nullable Object> Joiner<T, Void> awaitAll() {
            return new Joiners.AwaitAll<>();
        }

        /**
         * Waits for all subtasks, and shuts down when a predicate says so.
         *
         * @param <T> what the subtasks return
         * @param isDone asked about each subtask that has ended, in its thread
         * @return a joiner whose result are all subtasks in the order of their forks
         */
        static <T extends @Nullable Object> Joiner<T, Stream<Subtask<T>>> allUntil(
                Predicate<? super Subtask<? extends T>> isDone) {
            return new Joiners.AllUntil<>(Objects.requireNonNull(isDone, "isDone"));
        }
    }

    /** How a {@link JoinedScope} shall be. Immutable. */
    public sealed interface Configuration permits JoinedScope.Settings {

        /**
         * Returns this configuration with threads made by a factory.
         *
         * @param threadFactory called once for each subtask
         * @return a new configuration
         */
        Configuration withThreadFactory(ThreadFactory threadFactory);

        /**
         * Returns this configuration with a name.
         *
         * @param name what the scope is called in dumps and messages
         * @return a new configuration
         */
        Configuration withName(String name);

        /**
         * Returns this configuration with a timeout, after which the scope is shut down.
         *
         * @param timeout how long after the opening
         * @return a new configuration
         */
        Configuration withTimeout(Duration timeout);

        /**
         * Returns this configuration with all that JEP 505 does not have; for what both have, the last call wins.
         *
         * @param options replaces name and thread factory
         * @return a new configuration
         */
        Configuration withOptions(StructuredScopeOptions options);
    }

    /** What {@code join()} of a {@link JoinedScope} throws if its joiner has no result. The cause is never null. */
    public static final class FailedException extends RuntimeException {

        @Serial
        private static final long serialVersionUID = 1L;

        FailedException(Throwable cause) {
            super(cause);
        }
    }
}
