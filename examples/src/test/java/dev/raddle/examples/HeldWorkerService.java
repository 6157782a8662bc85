package dev.raddle.examples;

import dev.raddle.testing.VirtualTime;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

/**
 * The worker service with jobs that do what their names say, and a time that passes when its standard input says so. The
 * process does not end before its input does.
 */
final class HeldWorkerService {
    private final VirtualTime time = new VirtualTime();
    private final Map<String, CountDownLatch> holds = new TreeMap<>();

    private HeldWorkerService() {
        for (String kind : new String[] {"gate", "polite", "late", "stubborn"}) {
            holds.put(kind, new CountDownLatch(1));
        }
    }

    public static void main(String[] args) throws Exception {
        HeldWorkerService service = new HeldWorkerService();
        WorkerServiceExample.start(Path.of(args[0]), 0, Duration.ofMinutes(1), service.time, service::work);
        Thread input = new Thread(service::obey);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> join(input)));
        input.start();
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void obey() {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                switch (line) {
                    case "await drain" -> time.awaitAlarms(1);
                    case "pass" -> {
                        time.awaitAlarms(1);
                        time.advance(Duration.ofMinutes(1));
                    }
                    default -> holds.get(line).countDown();
                }
                System.out.println("heard " + line);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Ends at once, or is held until it is let go: if it is polite, late or a gate, by an interrupt too. */
    private void work(String job) throws InterruptedException {
        CountDownLatch hold = holds.get(job.substring(0, job.indexOf('-')));
        if (hold == null) {
            return;
        }
        System.out.println("began " + job);
        while (true) {
            try {
                hold.await();
                return;
            } catch (InterruptedException told) {
                System.out.println("interrupted " + job);
                if (job.startsWith("late")) { // goes on to its end, as if it had not noticed
                    Thread.currentThread().interrupt();
                    return;
                } else if (!job.startsWith("stubborn")) {
                    throw told;
                }
            }
        }
    }
}
