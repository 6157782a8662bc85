package dev.raddle.redis;

import dev.raddle.processes.Await;
import dev.raddle.processes.WorkerJvm;
import dev.raddle.redis.FaultPlan.Step;
import dev.raddle.redis.FaultProxy.Direction;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A real fleet: a server, worker processes, a proxy before each of them, and the file in which they count. */
final class TestFleet implements AutoCloseable {

    /*
     * Overview.
     *
     * Worker i has slot i of the file and proxy i. A killed worker's tasks are taken out of the file as soon as it
     * is known to be dead, and its successor has the same slot. All that the server is asked goes through Resp, not
     * through the tested code; only the limits are set by the tested code.
     */
    private static final Duration JUDGED_AFTER = Duration.ofSeconds(2);
    private static final Duration START = Duration.ofSeconds(3);
    private static final int PROGRESS = 50;

    private final FleetSetup setup;
    private final String namespace = "fleet-test";
    private final Path path;
    private final PeakFile file;
    private final Judge judge;
    private final List<FaultProxy> proxies = new ArrayList<>();
    private final List<WorkerJvm> workers = new ArrayList<>();
    private RedisServer server;
    private long started; // workers
    private long faults;
    private long tasksOfTheDead;
    private long acquiredByTheDead;

    private TestFleet(FleetSetup setup) throws IOException {
        this.setup = setup;
        path = Files.createTempFile("raddle-peaks-", "");
        file = PeakFile.open(path, setup.limits().size());
        judge = new Judge(file, setup.lease());
        server = RedisServer.start(setup.kind(), RedisServer.Options.DURABLE);
    }

    /** Starts the server and the workers, which are idle. */
    static TestFleet start(FleetSetup setup) {
        TestFleet fleet = null;
        try {
            fleet = new TestFleet(setup);
            Await.until("the limits are set", fleet::setLimits);
            fleet.startWorkers();
            return fleet;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (RuntimeException | Error e) {
            if (fleet != null) {
                fleet.close();
            }
            throw e;
        }
    }

    /** Returns whether the server has accepted all limits, which it may not within a short lease on a busy machine. */
    private boolean setLimits() {
        FleetOptions options = FleetOptions.builder()
                .namespace(namespace)
                // A new namespace grants nothing for this time.
                .lease(setup.lease().compareTo(START) < 0 ? setup.lease() : START)
                .instanceName("harness")
                .build();
        RedisURI uri = RedisURI.create("redis://127.0.0.1:" + server.port());
        try (RedisFleet fleet = RedisFleet.connect(uri, options)) {
            fleet.setCap(setup.cap());
            for (int group = 0; group < setup.limits().size(); group++) {
                fleet.setLimit(FleetWorker.key(group), setup.limits().get(group));
                file.setLimit(group, setup.limits().get(group));
            }
        } catch (FleetException e) {
            return false;
        }
        file.setLimit(file.groups(), setup.cap());
        return true;
    }

    private void startWorkers() {
        for (int i = 0; i < setup.workers(); i++) {
            proxies.add(new FaultProxy(server.port()));
            workers.add(startWorker(i));
        }
        workers.forEach(WorkerJvm::awaitReady);
    }

    private WorkerJvm startWorker(int slot) {
        Map<String, String> arguments = new HashMap<>();
        arguments.put("file", path.toString());
        arguments.put("slot", Integer.toString(slot));
        arguments.put("groups", Integer.toString(file.groups()));
        arguments.put("threads", Integer.toString(setup.threads()));
        arguments.put("taskMicros", Integer.toString(setup.taskMicros()));
        arguments.put("seed", Long.toString(setup.seed() + started++));
        arguments.put("namespace", namespace);
        arguments.put("uri", "redis://127.0.0.1:" + proxies.get(slot).port());
        arguments.put("leaseMillis", Long.toString(setup.lease().toMillis()));
        arguments.put("sliceMillis", Long.toString(slot == 0 ? 0 : setup.slice().toMillis()));
        if (setup.frozenClock() && slot == 0) {
            arguments.put("frozenClock", "true");
        }
        List<String> words = arguments.entrySet().stream()
                .map(argument -> argument.getKey() + "=" + argument.getValue())
                .toList();
        return WorkerJvm.start("worker " + slot, FleetWorker.class, words, setup.patches());
    }

    PeakFile file() {
        return file;
    }

    Duration lease() {
        return setup.lease();
    }

    Judge judge() {
        return judge;
    }

    RedisServer server() {
        return server;
    }

    WorkerJvm worker(int i) {
        return workers.get(i);
    }

    FaultProxy proxy(int i) {
        return proxies.get(i);
    }

    /** Waits until a worker has had a permit, so that it is connected and its lease runs. */
    void warmUp(int group) {
        for (WorkerJvm worker : workers) {
            worker.send("hold " + group);
            worker.await("entered");
            worker.send("drop");
            worker.await("dropped");
        }
    }

    /** Waits for the answer of a worker, and says what is known if there is none. */
    String await(int i, String word) {
        try {
            return workers.get(i).await(word);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + state(), e);
        }
    }

    /** Makes all workers busy. */
    void load() {
        for (int i = 0; i < workers.size(); i++) {
            load(i, 1, 1);
        }
    }

    /** Makes a worker busy with tasks that take so many permits. */
    void load(int i, int fewest, int most) {
        workers.get(i).send("load " + fewest + " " + most);
        workers.get(i).await("loading");
    }

    /** Waits until the tasks of all workers have ended. */
    void idle() {
        workers.forEach(worker -> worker.send("idle"));
        workers.forEach(worker -> worker.await("idle"));
    }

    /** Waits until each worker has completed some more tasks. */
    void awaitProgress(String after) {
        for (int i = 0; i < workers.size(); i++) {
            int slot = i;
            long goal = file.tasks(slot) + PROGRESS;
            Await.until(() -> "worker " + slot + " continues after " + after + state(), () -> file.tasks(slot) >= goal);
        }
        judge.judgeUntil(System.nanoTime() - JUDGED_AFTER.toNanos());
    }

    /** Kills a worker and lets its successor start, which is idle. */
    void replace(int i) {
        kill(i);
        workers.set(i, startWorker(i).awaitReady());
    }

    /** Kills a worker. */
    void kill(int i) {
        workers.get(i).kill();
        file.forget(i);
        tasksOfTheDead += file.tasks(i);
        acquiredByTheDead += file.acquired(i);
        file.clearCounts(i);
    }

    /** Injects a fault, and returns when it is over. */
    void inject(Step step) {
        faults++;
        FaultProxy proxy = proxies.get(step.worker());
        switch (step.fault()) {
            case KILL_WORKER -> {
                replace(step.worker());
                load(step.worker(), 1, 1);
            }
            case STOP_WORKER -> stopWorker(step);
            case RESTART_SERVER -> {
                server.kill();
                Await.pass(part(step, 150));
                server.restart();
            }
            case EMPTY_SERVER -> {
                server.kill();
                Await.pass(part(step, 150));
                server.restartEmpty();
            }
            case STOP_SERVER -> {
                server.pause();
                Await.pass(beyondLease(step));
                server.proceed();
            }
            case LOSE_KEY -> server.command("DEL", new Keys(namespace).all()[step.size() % 10]);
            case FLUSH_SCRIPTS -> flushScripts();
            case FAILOVER -> failOver(step);
            case CUT -> proxy.cut();
            case REFUSE -> {
                proxy.refuse();
                Await.pass(beyondLease(step));
                proxy.accept();
            }
            case SILENCE_ANSWERS -> silence(proxy, Direction.TO_CLIENT, step);
            case SILENCE_CALLS -> silence(proxy, Direction.TO_SERVER, step);
            case HALF_ANSWER -> proxy.cutAfter(Direction.TO_CLIENT, 1 + 3 * step.size());
            case HALF_CALL -> proxy.cutAfter(Direction.TO_SERVER, 1 + 3 * step.size());
            case REPEAT_CALL -> proxy.repeat(Direction.TO_SERVER, step.size());
            case DELAY -> delay(proxy, step);
        }
    }

    private void stopWorker(Step step) {
        workers.get(step.worker()).stop();
        Await.pass(beyondLease(step));
        workers.get(step.worker()).proceed();
    }

    private void flushScripts() {
        server.command("SCRIPT", "FLUSH");
        if (server.kind().hasFunctions()) {
            server.command("FUNCTION", "FLUSH");
        }
    }

    private void failOver(Step step) {
        RedisServer replica = RedisServer.start(setup.kind(), RedisServer.Options.replicaOf(server));
        RedisServer master = server;
        server = replica;
        try (master) {
            replica.awaitSynchronized();
            master.kill();
            Await.pass(part(step, 100));
            replica.promote();
            proxies.forEach(proxy -> proxy.lead(replica.port()));
        }
    }

    private void silence(FaultProxy proxy, Direction direction, Step step) {
        proxy.silence(direction);
        Await.pass(beyondLease(step));
        proxy.forward(direction);
    }

    private void delay(FaultProxy proxy, Step step) {
        for (Direction direction : Direction.values()) {
            proxy.delay(direction, part(step, 20));
        }
        Await.pass(setup.lease());
        proxy.heal();
    }

    /** Returns a part of the lease: at most so many percent of it, by the size of the fault. */
    private Duration part(Step step, int percent) {
        return setup.lease().multipliedBy((long) step.size() * percent).dividedBy(100 * 100);
    }

    private Duration beyondLease(Step step) {
        return setup.lease().multipliedBy(120).dividedBy(100).plus(part(step, 100));
    }

    /** Returns the number of permits that the server has granted and not got back. */
    long permitsAtServer() {
        if (!(server.command("HVALS", "{" + namespace + "}:used") instanceof List<?> values)) {
            return 0;
        }
        return values.stream()
                .mapToLong(value -> Long.parseLong(String.valueOf(value)))
                .sum();
    }

    /** Returns the number of permits that a worker holds at the server, of all groups. */
    long heldBy(int i) {
        Map<String, String> meta = hash("meta");
        long sum = 0;
        for (Map.Entry<String, String> held : hash("held").entrySet()) {
            String id = held.getKey().substring(0, held.getKey().indexOf('|'));
            if (isWorker(i, meta.getOrDefault("i:" + id, ""))) {
                sum += Long.parseLong(held.getValue().split(" ")[0]);
            }
        }
        return sum;
    }

    /**
     * What the server keeps for a worker.
     *
     * @param calls the number of the worker's last call, 0 if the server does not know the worker
     * @param held the permits that it holds
     * @param offered the permits that are reserved for its next call
     */
    record Kept(long calls, long held, long offered) {}

    /** Returns what the server keeps for a worker that has started once, all as of one of its calls. */
    Kept keptFor(int i) {
        while (true) {
            Kept before = offeredTo(i);
            long held = heldBy(i);
            if (offeredTo(i).calls() == before.calls()) {
                return new Kept(before.calls(), held, before.offered());
            }
        }
    }

    private Kept offeredTo(int i) {
        Map<String, String> meta = hash("meta");
        for (Map.Entry<String, String> instance : meta.entrySet()) {
            if (instance.getKey().startsWith("i:") && isWorker(i, instance.getValue())) {
                String id = instance.getKey().substring(2);
                long offered = meta.getOrDefault("o:" + id, "")
                        .lines()
                        .mapToLong(offer -> Long.parseLong(offer.split(" ")[2]))
                        .sum();
                return new Kept(Long.parseLong(meta.getOrDefault("c:" + id, "0")), 0, offered);
            }
        }
        return new Kept(0, 0, 0);
    }

    private static boolean isWorker(int i, String instance) {
        return instance.endsWith(" worker-" + i);
    }

    private Map<String, String> hash(String key) {
        Map<String, String> entries = new HashMap<>();
        if (server.command("HGETALL", "{" + namespace + "}:" + key) instanceof List<?> list) {
            for (int i = 0; i + 1 < list.size(); i += 2) {
                entries.put(String.valueOf(list.get(i)), String.valueOf(list.get(i + 1)));
            }
        }
        return entries;
    }

    /** Waits until the server has all permits back: those of dead workers after their leases. */
    void awaitAllPermitsBack() {
        Await.until(() -> permitsAtServer() + " permits are back" + state(), () -> permitsAtServer() == 0);
    }

    /** Returns what the workers and the server know, for a test that fails. */
    String state() {
        StringBuilder text = new StringBuilder(System.lineSeparator());
        for (WorkerJvm worker : workers) {
            worker.send("state");
            text.append(worker.name())
                    .append(": ")
                    .append(worker.await("state"))
                    .append(System.lineSeparator());
        }
        if (server.command("KEYS", "{" + namespace + "}:*") instanceof List<?> keys) {
            keys.forEach(key ->
                    text.append(key).append(": ").append(content((String) key)).append(System.lineSeparator()));
        }
        return text + report();
    }

    private @Nullable Object content(String key) {
        return switch (String.valueOf(server.command("TYPE", key))) {
            case "hash" -> server.command("HGETALL", key);
            case "zset" -> server.command("ZRANGE", key, "0", "-1", "WITHSCORES");
            case "string" -> server.command("GET", key);
            default -> "?";
        };
    }

    /** Lets all workers end properly. */
    void exit() {
        workers.forEach(WorkerJvm::exit);
        judge.judgeUntil(System.nanoTime());
    }

    long tasks() {
        long sum = tasksOfTheDead;
        for (int slot = 0; slot < workers.size(); slot++) {
            sum += file.tasks(slot);
        }
        return sum;
    }

    long grants() {
        long sum = acquiredByTheDead;
        for (int slot = 0; slot < workers.size(); slot++) {
            sum += file.acquired(slot);
        }
        return sum;
    }

    /** Returns what has happened so far, as text. */
    String report() {
        StringBuilder text = new StringBuilder();
        line(text, "server", server.kind());
        line(text, "java", System.getProperty("java.vm.version"));
        line(text, "seed", setup.seed());
        line(
                text,
                "fleet",
                setup.workers() + " processes of " + setup.threads() + " threads, lease "
                        + setup.lease().toMillis() + " ms, slice "
                        + setup.slice().toMillis() + " ms in all but the first");
        line(text, "groups", file.groups() + ", cap " + setup.cap());
        line(text, "grants", grants() + " by the server, for " + tasks() + " tasks");
        line(text, "faults", faults);
        line(text, "waiting", file.waits());
        line(text, "peak : limit", peaks());
        line(text, "stalls", file.stalls() + ", longest " + judge.longestStall().toMillis() + " ms");
        line(text, "late", judge.late() + " times more than the limit with tasks of a stalled process");
        line(text, "violations", judge.violations() + " " + judge.firstViolations());
        return text.toString();
    }

    private String peaks() {
        StringBuilder text = new StringBuilder("cap " + file.peak(file.groups()) + ":" + setup.cap());
        for (int group = 0; group < file.groups(); group++) {
            text.append(", ").append(file.peak(group)).append(':').append(file.limit(group));
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String name, @Nullable Object value) {
        text.append(String.format("%-13s %s%n", name, value));
    }

    @Override
    public void close() {
        workers.forEach(WorkerJvm::close);
        proxies.forEach(FaultProxy::close);
        server.close();
        file.close();
        try {
            Files.delete(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
