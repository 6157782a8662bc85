package dev.raddle.console;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.TaskStats;
import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.TaskListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A page for a browser that shows what runs in this JVM now, and why the rest waits: groups, pools, runs of flows,
 * scopes, and failures.
 *
 * {@snippet :
 * try (Console console = Console.start(ConsoleOptions.defaults());
 *         GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
 *                 .addListener(console.listener("orders"))
 *                 .build())) {
 *     console.watch("orders", executor);
 *     System.out.println(console.uri());
 *     serve(executor);
 * }
 * }
 *
 * <p>A console watches what it is given, by weak references: what has ended or is not referenced any more disappears.
 * Listeners add what cannot be read later: failures, rejections, starts per second, and since when a task runs or
 * waits. While no browser looks, only the numbers of a small history are read. Its threads do not keep the JVM
 * alive.
 *
 * <p>All methods may be called by any thread.
 */
public final class Console implements AutoCloseable {

    /** Something that a console watches until this is closed. */
    @FunctionalInterface
    public interface Watch extends AutoCloseable {
        /** Makes the console forget it. A second call has no effect. */
        @Override
        void close();
    }

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Failures failures = new Failures();
    private final ConcurrentHashMap<String, Activity> activities = new ConcurrentHashMap<>();
    private final TaskRefs refs = new TaskRefs();
    private final Changes changes = new Changes();
    private final Groups groups = new Groups(activities::get, failures, refs, changes);
    private final Running running = new Running(groups, refs);
    private final Pools pools = new Pools();
    final Flows flows = new Flows();
    private final Scopes scopes = new Scopes();
    final Fleets fleets = new Fleets();
    final Durable durable = new Durable();
    private final Map<String, Subject> subjects = Map.of(
            "groups", groups,
            "pools", pools,
            "flows", flows,
            "scopes", scopes,
            "fleets", fleets,
            "durable", durable,
            "failures", failures);
    private final Findings findings = new Findings(subjects.values(), changes);
    private final String title;
    private final long startedAt = ProcessHandle.current()
            .info()
            .startInstant()
            .orElseGet(Instant::now)
            .toEpochMilli();
    private final Controls controls;
    private ObjectNode summary = Json.object(Map.of()); // of the last sample; used by the sampler's thread only
    final Sampler sampler;
    private final Server server;
    private final URI uri;

    private Console(
            ConsoleOptions.Draft options,
            @Nullable String token,
            InetAddress address,
            Duration patience,
            Duration longestRest)
            throws IOException {
        title = options.title == null ? titleOf(System.getProperty("sun.java.command", "")) : options.title;
        controls = new Controls(options.controls, groups, flows, durable, refs);
        sampler = new Sampler(options.clients, longestRest, this::sample, groups::sampleWithoutClient, this::state);
        HttpServer http = HttpServer.create(new InetSocketAddress(address, options.port), 0);
        int port = http.getAddress().getPort();
        boolean isNamed = !address.isAnyLocalAddress() && !address.isLoopbackAddress();
        String host = isNamed ? options.host : "localhost";
        Set<String> hosts = new HashSet<>(options.allowedHosts);
        hosts.add(options.host.toLowerCase(Locale.ROOT));
        server = new Server(
                http, new Guard(hosts, token, port), sampler, this::stack, controls, options.clients, patience);
        uri = URI.create("http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port + "/");
    }

    /**
     * Starts a console.
     *
     * @param options the settings
     * @return a console that has started, to be closed by its owner
     * @throws IllegalArgumentException if other machines can reach it, or it has controls, and there is no token
     * @throws UncheckedIOException if it cannot listen at its address
     */
    public static Console start(ConsoleOptions options) {
        return start(options, PATIENCE, Sampler.LONGEST_REST);
    }

    /**
     * Starts a console.
     *
     * @param patience the longest wait for a client that does not read or write
     * @param longestRest the longest time between two samples
     */
    static Console start(ConsoleOptions options, Duration patience, Duration longestRest) {
        ConsoleOptions.Draft all = options.all;
        String inEnvironment = System.getenv(ConsoleOptions.TOKEN_VARIABLE);
        String token = all.token != null || inEnvironment == null || inEnvironment.isBlank()
                ? all.token
                : ConsoleOptions.checkedToken(inEnvironment.strip());
        try {
            InetAddress address = InetAddress.getByName(all.host);
            if (token == null && (all.controls || !address.isLoopbackAddress())) {
                throw new IllegalArgumentException("a console "
                        + (all.controls ? "with controls" : "at " + all.host + ", which other machines can reach,")
                        + " needs a token: ConsoleOptions.withTokenFile, or the environment variable "
                        + ConsoleOptions.TOKEN_VARIABLE);
            }
            Console console = new Console(all, token, address, patience, longestRest);
            boolean hasStarted = false;
            try {
                console.server.start();
                console.sampler.start();
                hasStarted = true;
            } finally {
                if (!hasStarted) {
                    console.server.stop(); // the port
                }
            }
            return console;
        } catch (IOException failure) {
            throw new UncheckedIOException(
                    "the console cannot listen at " + all.host + ", port " + all.port + ": " + failure.getMessage(),
                    failure);
        }
    }

    /** Returns the name of the program: the arguments of its command may be secrets. */
    private static String titleOf(String command) {
        String program = command.split(" ", 2)[0];
        String name = program.substring(program.lastIndexOf('/') + 1);
        return name.isEmpty() ? "JVM " + ProcessHandle.current().pid() : name;
    }

    /**
     * Returns the address of the page.
     *
     * @return the address, with the port that was chosen
     */
    public URI uri() {
        return uri;
    }

    /**
     * Answers a request that another HTTP server of this JVM has received, with the checks of this console's own
     * server. Runs in the calling thread, which a stream of changes keeps until a write to the client fails or this
     * console is closed. That server limits how long a client may take; its users, if it knows them, are in the audit.
     *
     * @param exchange the request, whose path is relative to the console's: {@code /} for the page; is closed
     */
    public void answer(HttpExchange exchange) {
        server.handle(exchange);
    }

    // Watching.

    /**
     * Returns a listener for the policy of an executor, or for the options of scopes. It counts starts and rejections,
     * and collects failures. With a listener, an executor also knows since when its tasks run and wait.
     *
     * @param name the name under which the executor is {@linkplain #watch(String, GroupExecutor) watched}
     * @return the listener, the same at each call for a name
     */
    public TaskListener listener(String name) {
        Objects.requireNonNull(name, "name");
        return activities.computeIfAbsent(
                name, created -> new Activity(created, failures, changes, () -> sampler.isActive()));
    }

    /**
     * Returns a listener for the builder of a pool, which collects the stacks of stuck tasks. It needs
     * {@link dev.raddle.pool.PoolBuilder#stuckAfter}.
     *
     * @param name the name of the pool
     * @return the listener, the same at each call for a name
     */
    public PoolListener poolListener(String name) {
        return pools.listener(Objects.requireNonNull(name, "name"));
    }

    /**
     * Watches the groups of an executor. One that was watched under the same name is forgotten.
     *
     * @param name the name to show
     * @param executor the executor, which is forgotten when it has shut down
     * @return what ends this earlier
     */
    public Watch watch(String name, GroupExecutor executor) {
        return groups.executors.add(Objects.requireNonNull(name, "name"), Objects.requireNonNull(executor, "executor"));
    }

    /**
     * Watches a pool. One that was watched under the same name is forgotten.
     *
     * @param pool the pool, which is forgotten when it has terminated
     * @return what ends this earlier
     */
    public Watch watch(ThreadPool pool) {
        return pools.pools.add(pool.name(), pool);
    }

    /**
     * Starts a run of a flow and watches it. Also shows since when its nodes run, and which of them have failed.
     *
     * {@snippet :
     * try (FlowRun<Page> run = console.startFlow(plan, order, RunOptions.timeout(Duration.ofSeconds(5)))) {
     *     return run.get();
     * }
     * }
     *
     * @param <P> the type of the parameter
     * @param <R> the type of the value of the run
     * @param plan the plan
     * @param parameter the parameter for the nodes, may be null
     * @param options the options of the run
     * @return the run, to be closed by the caller
     * @throws IllegalArgumentException if the options do not fit the plan
     * @see FlowPlan#start(Object, RunOptions)
     */
    public <P, R> FlowRun<R> startFlow(FlowPlan<P, R> plan, @Nullable P parameter, RunOptions options) {
        NodeTimes times = new NodeTimes(plan.name(), failures);
        Instant now = Instant.now();
        FlowRun<R> run = plan.start(parameter, options.addListener(times));
        flows.add(new WatchedRun(run, plan, times, now));
        return run;
    }

    /**
     * Watches a run of a flow that was started elsewhere. Until it has ended, the times and failures of its nodes are
     * unknown; {@link #startFlow} has them.
     *
     * <p>Runs that have not ended are shown, and the last 50 that have.
     *
     * @param run the run
     * @param plan the plan of which it is a run
     * @return what ends this earlier
     */
    public Watch watch(FlowRun<?> run, FlowPlan<?, ?> plan) {
        return flows.add(new WatchedRun(run, plan, new NodeTimes(plan.name(), failures), Instant.now()));
    }

    /**
     * Watches a run that another engine executes.
     *
     * @param run the run, which is referenced until 50 others have ended after it or the result is closed
     * @return what ends this earlier
     */
    public Watch watch(RunView run) {
        return flows.add(Objects.requireNonNull(run, "run"));
    }

    /**
     * Watches a scope, with the scopes around it and inside it.
     *
     * @param name the name to show
     * @param scope the scope, which is forgotten when it has closed
     * @return what ends this earlier
     * @throws IllegalStateException if the scope is closed
     */
    public Watch watch(String name, ThreadScope scope) {
        return scopes.add(Objects.requireNonNull(name, "name"), scope);
    }

    /** Ends all connections and all threads of this console. */
    @Override
    public void close() {
        boolean isInterrupted = Thread.interrupted(); // the server of the JDK would forget it
        try {
            try {
                sampler.close();
            } finally {
                server.close();
            }
        } catch (InterruptedException interrupt) {
            isInterrupted = true;
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "console at " + uri;
    }

    // Answering.

    private void sample(long now) {
        groups.sample(now);
        findings.update(now);
        Map<String, Object> all = new HashMap<>();
        all.put("wrong", findings.summary());
        subjects.forEach((name, subject) -> all.put(name, subject.summary(now)));
        summary = Json.object(all);
    }

    private ObjectNode state(View view, long now) {
        Object shown = switch (view.kind()) {
            case WRONG -> findings.page(now, groups.total());
            case RUNNING -> running.rows(view, now);
            case GROUPS -> groups.page(view, now);
            case GROUP -> groups.detail(view, now, findings::of);
            case FLOWS -> flows.rows(view);
            case FLOW -> flows.detail(view);
            case FAILURES -> failures.all(view);
            case POOLS -> pools.rows(now);
            case SCOPES -> scopes.rows(now);
            case FLEET -> fleets.rows(now);
            case DURABLE -> durable.rows(view, now);
            case STORED -> durable.detail(view, now);
            case AUDIT -> controls.audit();
        };
        ObjectNode state = Json.object(shown);
        state.put("at", now);
        state.put("title", title);
        state.put("startedAt", startedAt);
        state.put("controls", controls.isEnabled());
        state.set("summary", summary);
        return state;
    }

    private String stack(Map<String, String> query) {
        GroupExecutor executor = groups.executors.get(query.getOrDefault("executor", ""));
        if (executor == null) {
            throw new Refusal(404, "there is no such executor");
        }
        TaskStats task = refs.find(executor, query.getOrDefault("key", ""), query.getOrDefault("task", ""));
        if (task.thread() == null) {
            throw new Refusal(404, "the task does not run");
        }
        return Stack.of(task.thread()).text();
    }
}
