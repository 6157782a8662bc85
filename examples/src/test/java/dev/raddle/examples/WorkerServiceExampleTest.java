package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.pool.ThreadPool;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the worker service as real processes that are stopped while jobs run. */
@Timeout(200)
class WorkerServiceExampleTest {
    private static final int ACCEPTED = 202;
    private static final int NOT_NOW = 503;
    private static final int SIGTERM = 128 + 15;
    private static final int SIGKILL = 128 + 9;

    @TempDir
    private Path directory;

    private final List<Process> processes = new ArrayList<>();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Set<String> accepted = new LinkedHashSet<>();

    /** A service that is ready to accept jobs. */
    private record Service(Raddle.Run run, String address) {}

    private Raddle.Run launch(Class<?> program, String... arguments) throws Exception {
        List<String> words = new ArrayList<>(Raddle.WITH_SIGNALS);
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
        words.add(String.join(
                File.pathSeparator,
                home(ThreadPool.class),
                home(WorkerServiceExample.class),
                home(HeldWorkerService.class)));
        words.addAll(List.of(program.getName(), directory.toString()));
        words.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(words);
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        Process process = builder.start();
        processes.add(process);
        return new Raddle.Run(process);
    }

    private static String home(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    private Service start(Class<?> program, String... arguments) throws Exception {
        Raddle.Run run = launch(program, arguments);
        String port = run.awaitLine("ready on port ").strip().substring("ready on port ".length());
        return new Service(run, "http://127.0.0.1:" + port);
    }

    @AfterEach
    void kill_what_is_left() {
        processes.forEach(Process::destroyForcibly);
        client.close();
    }

    private int post(Service service, String job) throws IOException, InterruptedException {
        return status(HttpRequest.newBuilder(URI.create(service.address() + "/jobs/" + job))
                .POST(HttpRequest.BodyPublishers.noBody()));
    }

    private int status(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    private void submit(Service service, String kind, int count) throws Exception {
        for (String job : jobs(kind, count)) {
            assertThat(post(service, job)).as(job).isEqualTo(ACCEPTED);
            accepted.add(job);
        }
    }

    private static List<String> jobs(String kind, int count) {
        return IntStream.range(0, count).mapToObj(i -> kind + "-" + i).toList();
    }

    private static void awaitLines(Service service, String... lines) throws Exception {
        Set<String> missing = new HashSet<>(List.of(lines));
        while (!missing.isEmpty()) {
            service.run().awaitLine(line -> missing.remove(line.strip()));
        }
    }

    private Raddle.Ended terminate(Service service) throws Exception {
        service.run().signal("TERM");
        return end(service, SIGTERM);
    }

    private static Raddle.Ended end(Service service, int exitCode) throws Exception {
        Raddle.Ended ended = service.run().end();
        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isEqualTo(exitCode);
        return ended;
    }

    private List<String> lines(String file) throws IOException {
        return Files.readAllLines(directory.resolve(file));
    }

    private void assertThatAllAreDoneOnce() throws IOException {
        assertThat(lines("journal")).containsExactlyInAnyOrderElementsOf(accepted);
        assertThat(lines("spool")).isEmpty();
    }

    private void assertThatEachIsDoneOrSpooled() throws IOException {
        List<String> all = new ArrayList<>(lines("journal"));
        all.addAll(lines("spool"));
        assertThat(all).containsExactlyInAnyOrderElementsOf(accepted);
    }

    @Test
    void jobs_that_are_open_after_sigterm_are_spooled_and_done_after_the_restart() throws Exception {
        Service held = start(HeldWorkerService.class);
        submit(held, "quick", 200);
        submit(held, "gate", 1);
        submit(held, "polite", 1);
        submit(held, "late", 1);
        submit(held, "stubborn", 1);
        awaitLines(held, "began gate-0", "began polite-0", "began late-0", "began stubborn-0"); // all threads are busy
        submit(held, "during", 50);
        submit(held, "polite", 2); // one of them is known
        submit(held, "never", 250);
        submit(held, "quick", 200); // all of them are known

        held.run().signal("TERM");
        held.run().type("await drain\n");
        awaitLines(held, "executed await drain");
        assertThat(post(held, "refused-0")).isEqualTo(NOT_NOW);
        assertThat(status(HttpRequest.newBuilder(URI.create(held.address() + "/ready"))))
                .isEqualTo(NOT_NOW);
        held.run().type("gate\n"); // within the grace period
        awaitLines(held, "began polite-1"); // after the jobs that end during the grace period
        held.run().type("pass\n"); // the grace period
        String stopped = ": java.lang.InterruptedException";
        awaitLines(
                held,
                "not done polite-0" + stopped,
                "not done polite-1" + stopped,
                "interrupted stubborn-0",
                "done late-0");
        held.run().type("pass\n"); // the final wait for interrupted jobs
        awaitLines(held, "spooled 253 jobs");
        held.run().type("stubborn\n");
        awaitLines(held, "not done stubborn-0: java.io.IOException: the commit is too late, the job is in the spool");
        held.run().closeInput();
        Raddle.Ended ended = end(held, SIGTERM);

        assertThat(ended.out())
                .contains("505 accepted, 200 completed before")
                .contains("250 handed back")
                .contains("still running: job stubborn-0");
        assertThatEachIsDoneOrSpooled();
        assertThat(lines("journal")).contains("late-0", "gate-0", "during-49").doesNotContain("stubborn-0");
        List<String> spooled = new ArrayList<>(List.of("polite-0", "stubborn-0", "polite-1"));
        spooled.addAll(jobs("never", 250));
        assertThat(lines("spool")).containsExactlyElementsOf(spooled); // in the order of their acceptance

        Service next = start(WorkerServiceExample.class, "0", "PT100S");
        submit(next, "never", 251); // one of these is new
        terminate(next);
        assertThatAllAreDoneOnce();
    }

    @Test
    void each_accepted_job_is_done_once_whenever_sigterm_arrives() throws Exception {
        Service first = start(WorkerServiceExample.class, "0", "PT0.05S");
        Set<String> answered = ConcurrentHashMap.newKeySet();
        Set<String> unanswered = ConcurrentHashMap.newKeySet();
        CountDownLatch half = new CountDownLatch(200);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 8; i++) {
                String kind = "client-" + i;
                clients.submit(() -> {
                    for (String job : jobs(kind, 50)) {
                        try {
                            if (post(first, job) == ACCEPTED) {
                                answered.add(job);
                                half.countDown();
                            }
                        } catch (IOException gone) {
                            unanswered.add(job);
                        }
                    }
                    return null;
                });
            }
            half.await();
            first.run().signal("TERM"); // while jobs run and more are submitted
        }
        accepted.addAll(answered);
        end(first, SIGTERM);

        Set<String> known = new HashSet<>(accepted);
        known.addAll(unanswered);
        List<String> all = new ArrayList<>(lines("journal"));
        all.addAll(lines("spool"));
        assertThat(all).doesNotHaveDuplicates().containsAll(accepted);
        assertThat(known).containsAll(all);

        Service next = start(WorkerServiceExample.class, "0", "PT100S");
        for (String job : unanswered) { // as a client would
            assertThat(post(next, job)).isEqualTo(ACCEPTED);
            accepted.add(job);
        }
        terminate(next);
        assertThatAllAreDoneOnce();
    }

    @Test
    void a_killed_process_loses_no_job_of_the_spool() throws Exception {
        accepted.addAll(jobs("spooled", 300));
        Files.write(directory.resolve("spool"), accepted);
        Service killed = start(WorkerServiceExample.class);
        killed.run().signal("KILL");
        end(killed, SIGKILL);

        terminate(start(WorkerServiceExample.class, "0", "PT100S"));

        assertThatAllAreDoneOnce();
    }

    @Test
    void the_journal_takes_precedence_over_the_spool_and_an_incomplete_line_is_ignored() throws Exception {
        accepted.addAll(List.of("done", "spooled", "torn", "done-too"));
        Files.writeString(directory.resolve("journal"), "done\ndone-too\nto");
        Files.writeString(directory.resolve("spool"), "done\nspooled\ntorn\n");
        Files.writeString(directory.resolve("spool.new"), "sp"); // its writer died before it was renamed

        terminate(start(WorkerServiceExample.class, "0", "PT100S"));

        assertThatAllAreDoneOnce();
    }

    @Test
    void two_services_do_not_share_a_directory() throws Exception {
        Service first = start(WorkerServiceExample.class);

        Raddle.Ended second = launch(WorkerServiceExample.class).end();

        assertThat(second.exitCode()).isEqualTo(1);
        assertThat(second.err()).contains("must not be in use by another service");
        terminate(first);
    }
}
