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
 * The worker service with jobs whose names determine their behaviour, and with virtual time that its standard input
 * advances. The process does not end before its input ends.
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
        Thread input = new Thread(service::readCommands);
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

    private void readCommands() {
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
                System.out.println("executed " + line);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns at once, or waits until its kind is released; an interrupt ends the wait unless the job is stubborn. */
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
            } catch (InterruptedException interrupt) {
                System.out.println("interrupted " + job);
                if (job.startsWith("late")) { // completes in spite of the interrupt
                    Thread.currentThread().interrupt();
                    return;
                } else if (!job.startsWith("stubborn")) {
                    throw interrupt;
                }
            }
        }
    }
}
