package dev.raddle.examples;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.RedisFleet;
import dev.raddle.task.TaskContext;
import io.lettuce.core.RedisURI;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Three worker processes share one limit: together they print at most four pages at once. One of them is killed while
 * it prints; the others get its permits when its lease has ended.
 */
public final class FleetExample {

    /*
     * Overview.
     *
     * The workers append to one file, the record: a line when a page begins, before it has any effect, and a line when
     * it has ended, before its permit is returned. Appending is atomic, so the order of the lines is the order of the
     * events, over all processes, and the number of pages that were printed at once can be counted from the file. The
     * pages of the killed worker end with the line that its killer writes.
     */

    /** The key that all workers share. */
    public static final String KEY = "printer";

    /** The namespace of the fleet. */
    public static final String NAMESPACE = "example";

    private static final int LIMIT = 4;
    private static final int WORKERS = 3;
    private static final int PAGES = 10_000; // more than can be printed in time
    private static final Duration PAGE = Duration.ofMillis(100);
    private static final String VICTIM = "worker-2";
    private static final String BEGIN = "begin ";
    private static final String END = "end ";
    private static final String KILLED = "killed ";

    /**
     * What the record shows.
     *
     * @param pages the number of pages that each worker has begun to print
     * @param most the largest number of pages that were printed at once
     */
    public record Count(Map<String, Integer> pages, int most) {
        /** Counts the lines of a record. */
        static Count of(List<String> record) {
            Map<String, Integer> pages = new TreeMap<>();
            Map<String, Integer> printing = new HashMap<>();
            int most = 0;
            for (String line : record) {
                String worker = line.substring(line.indexOf(' ') + 1);
                if (line.startsWith(BEGIN)) {
                    pages.merge(worker, 1, Integer::sum);
                    printing.merge(worker, 1, Integer::sum);
                } else if (line.startsWith(END)) {
                    printing.merge(worker, -1, Integer::sum);
                } else {
                    printing.remove(worker); // killed
                }
                most = Math.max(
                        most,
                        printing.values().stream().mapToInt(Integer::intValue).sum());
            }
            return new Count(pages, most);
        }
    }

    private FleetExample() {}

    /**
     * Runs the example, or one worker.
     *
     * @param args the URI of a Redis or Valkey server; for a worker also its name and the record
     * @throws Exception if the server or a worker fails
     */
    public static void main(String[] args) throws Exception {
        if (args.length == 3) {
            work(args[0], args[1], Path.of(args[2]));
            return;
        }
        Path record = Files.createTempFile("raddle-fleet-", ".txt");
        try {
            run(args[0], record);
            Count count = Count.of(Files.readAllLines(record));
            System.out.println("pages: " + count.pages());
            System.out.println("at most " + count.most() + " at once, the limit is " + LIMIT);
        } finally {
            Files.delete(record);
        }
    }

    /** Starts the workers, kills one of them and ends the others. */
    private static void run(String uri, Path record) throws IOException, InterruptedException {
        try (RedisFleet fleet = connect(uri, "starter")) {
            fleet.setLimit(KEY, LIMIT);
        }
        Map<String, Process> workers = new TreeMap<>();
        List<Thread> readers = new ArrayList<>();
        for (int i = 1; i <= WORKERS; i++) {
            Process worker = start(uri, "worker-" + i, record);
            workers.put("worker-" + i, worker);
            readers.add(Thread.ofVirtual().start(() -> show(worker)));
        }
        awaitEnter("Enter kills " + VICTIM);
        Process victim = workers.get(VICTIM);
        victim.destroyForcibly().waitFor();
        append(record, KILLED + VICTIM);
        awaitEnter(VICTIM + " is killed; the others get its permits when its lease has ended. Enter ends them");
        for (Process worker : workers.values()) {
            worker.getOutputStream().close(); // ends it
        }
        for (Thread reader : readers) {
            reader.join();
        }
    }

    private static void awaitEnter(String message) throws IOException {
        System.out.println("--- " + message);
        for (int c = System.in.read(); c >= 0 && c != '\n'; c = System.in.read()) {
            // until the end of the line
        }
    }

    private static Process start(String uri, String name, Path record) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                FleetExample.class.getName(),
                uri,
                name,
                record.toString());
        return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static void show(Process worker) {
        try (BufferedReader lines = worker.inputReader(StandardCharsets.UTF_8)) {
            lines.lines().forEach(System.out::println);
        } catch (IOException | UncheckedIOException closed) {
            // the worker was killed
        }
    }

    private static RedisFleet connect(String uri, String name) {
        return RedisFleet.connect(
                RedisURI.create(uri),
                FleetOptions.builder().namespace(NAMESPACE).instanceName(name).build());
    }

    /** Prints pages until standard input ends. */
    private static void work(String uri, String name, Path record) throws IOException {
        AtomicInteger number = new AtomicInteger();
        // The executor's own limit is the largest that makes sense: only the fleet's limit matters.
        GroupPolicy.Builder policy = GroupPolicy.builder().defaultMaxConcurrencyPerGroup(LIMIT);
        try (RedisFleet fleet = connect(uri, name);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                        policy.permits(fleet).build())) {
            for (int i = 0; i < PAGES; i++) { // they wait without a thread
                executor.submit(KEY, () -> print(name, number.incrementAndGet(), record));
            }
            while (System.in.read() >= 0) {
                // until the end
            }
            executor.evictGroup(KEY); // the waiting pages; those that are being printed end by themselves
        }
    }

    private static Void print(String name, int page, Path record) throws IOException, InterruptedException {
        append(record, BEGIN + name);
        try {
            System.out.println(name + " prints page " + page + ", fence "
                    + TaskContext.current().fence().orElseThrow());
            Thread.sleep(PAGE); // stands for the printer
        } finally {
            append(record, END + name);
        }
        return null;
    }

    private static void append(Path record, String line) throws IOException {
        try (FileOutputStream out = new FileOutputStream(record.toFile(), true)) { // one write, which no interrupt ends
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }
}
