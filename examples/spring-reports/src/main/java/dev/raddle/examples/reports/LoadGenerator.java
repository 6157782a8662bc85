package dev.raddle.examples.reports;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Virtual users of the reports. Each sends one request after the other. A user of tenant B pauses between two requests;
 * the users of tenant A flood the service, and pause only after they were rejected, for the time of the answer.
 *
 * <p>Starts the service twice, with and without limits, and prints a table of the times that tenant B waited for.
 */
public final class LoadGenerator {

    private static final Duration PAUSE = Duration.ofMillis(50);

    private final HttpClient http;
    private final URI service;

    /**
     * Creates a load generator.
     *
     * @param service the address of the service, without a path
     */
    public LoadGenerator(URI service) {
        this.service = service;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(30))
                .build();
    }

    /**
     * What the users of one tenant have seen.
     *
     * @param nanos the times of the requests that were answered with a report, in ascending order
     * @param rejected the number of requests that were answered with 429 or 503 and a time to try again
     * @param failed the number of other answers
     */
    public record Report(List<Long> nanos, int rejected, int failed) {

        /**
         * Returns a percentile of the times.
         *
         * @param percent the percentile, from 0 to 100
         * @return the time in milliseconds, or NaN if no request was answered with a report
         */
        public double millis(double percent) {
            if (nanos.isEmpty()) {
                return Double.NaN;
            }
            int index = (int) Math.ceil(percent / 100 * nanos.size()) - 1;
            return nanos.get(Math.max(0, index)) / 1e6;
        }
    }

    /** The users of one tenant, at work until they have sent a number of requests or are stopped. */
    public final class Users {
        private final String tenant;
        private final boolean pauses;
        private final Queue<Long> nanos = new ConcurrentLinkedQueue<>();
        private final AtomicInteger rejected = new AtomicInteger();
        private final AtomicInteger failed = new AtomicInteger();
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean stopped;

        private Users(String tenant, boolean pauses) {
            this.tenant = tenant;
            this.pauses = pauses;
        }

        private void start(int users, int requests) {
            for (int user = 0; user < users; user++) {
                threads.add(Thread.ofVirtual().start(() -> work(requests)));
            }
        }

        private void work(int requests) {
            try {
                for (int i = 0; i < requests && !stopped; i++) {
                    Duration retryAfter = request();
                    Thread.sleep(pauses ? PAUSE : retryAfter.plusMillis(random(retryAfter.toMillis())));
                }
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
            }
        }

        /** Keeps users that were rejected at the same time from trying again at the same time. */
        private static long random(long millis) {
            return ThreadLocalRandom.current().nextLong(millis + 1);
        }

        /** Sends a request, and returns the time after which the service wants the next one. */
        private Duration request() throws InterruptedException {
            HttpRequest request = HttpRequest.newBuilder(service.resolve("/" + tenant + "/reports/sales"))
                    .timeout(Duration.ofSeconds(60))
                    .build();
            long begin = System.nanoTime();
            try {
                HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
                if (response.statusCode() == 200) {
                    nanos.add(System.nanoTime() - begin);
                    return Duration.ZERO;
                }
                OptionalLong seconds = response.headers().firstValueAsLong("Retry-After");
                (seconds.isPresent() ? rejected : failed).incrementAndGet();
                return Duration.ofSeconds(seconds.orElse(1));
            } catch (IOException failure) {
                failed.incrementAndGet();
                return PAUSE;
            }
        }

        /** Stops the users after their current requests. */
        public void stop() {
            stopped = true;
        }

        /**
         * Waits until the users have ended, and stops them if that takes too long.
         *
         * @param most the longest time to wait before they are stopped
         * @return what they have seen
         * @throws InterruptedException if the calling thread is interrupted
         */
        public Report join(Duration most) throws InterruptedException {
            Instant end = Instant.now().plus(most);
            for (Thread thread : threads) {
                if (!thread.join(Duration.between(Instant.now(), end))) {
                    stop();
                    thread.join();
                }
            }
            return new Report(nanos.stream().sorted().toList(), rejected.get(), failed.get());
        }
    }

    /**
     * Starts users that pause between their requests.
     *
     * @param tenant the tenant
     * @param users the number of users
     * @param requests the number of requests of each user
     * @return the users
     */
    public Users start(String tenant, int users, int requests) {
        Users started = new Users(tenant, true);
        started.start(users, requests);
        return started;
    }

    /**
     * Starts users that do not pause between their requests, until they are stopped.
     *
     * @param tenant the tenant
     * @param users the number of users
     * @return the users
     */
    public Users flood(String tenant, int users) {
        Users started = new Users(tenant, false);
        started.start(users, Integer.MAX_VALUE);
        return started;
    }

    // The comparison.

    private static final int FLOOD = 990;
    private static final int OTHERS = 10;
    private static final int REQUESTS = 200;
    private static final Duration MOST = Duration.ofSeconds(30); // for each of the measurements

    /**
     * Compares a service without limits with one that has them.
     *
     * @param arguments none; or the numbers of users of the two tenants, and of requests of each user of tenant B
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static void main(String[] arguments) throws InterruptedException {
        int[] numbers = arguments.length == 0
                ? new int[] {FLOOD, OTHERS, REQUESTS}
                : Stream.of(arguments).mapToInt(Integer::parseInt).toArray();
        print(System.out, compare(numbers[0], numbers[1], numbers[2]));
    }

    /**
     * What was measured of tenant B.
     *
     * @param service the name of the service, and of the load by tenant A
     * @param b the report of tenant B
     * @param rejectedOfA the number of requests of tenant A that were rejected
     */
    public record Row(String service, Report b, int rejectedOfA) {}

    static List<Row> compare(int flood, int others, int requests) throws InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (boolean limits : new boolean[] {false, true}) {
            try (Service service = Service.start(limits)) {
                LoadGenerator load = new LoadGenerator(service.address());
                String name = limits ? "with Raddle" : "without";
                load.start("b", others, requests).join(MOST); // warms up
                rows.add(new Row(
                        name + ", B alone", load.start("b", others, requests).join(MOST), 0));
                Users a = load.flood("a", flood);
                load.start("b", others, Math.max(1, requests / 4)).join(MOST); // the flood becomes steady
                Report b = load.start("b", others, requests).join(MOST);
                a.stop();
                rows.add(new Row(name + ", A floods", b, a.join(MOST).rejected()));
            }
        }
        return rows;
    }

    static void print(PrintStream out, List<Row> rows) {
        out.printf(
                "| %-24s | %10s | %10s | %10s | %14s |%n",
                "service", "B p50, ms", "B p99, ms", "B rejected", "A rejected");
        out.println("|---|---|---|---|---|");
        for (Row row : rows) {
            Report b = row.b();
            out.printf(
                    Locale.ROOT,
                    "| %-24s | %10.1f | %10.1f | %10d | %14d |%n",
                    row.service(),
                    b.millis(50),
                    b.millis(99),
                    b.rejected() + b.failed(),
                    row.rejectedOfA());
        }
    }
}
