package dev.raddle.examples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.raddle.pool.ShutdownReport;
import dev.raddle.pool.ThreadPool;
import dev.raddle.time.TimeSource;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.regex.Pattern;

/**
 * A service that accepts jobs over HTTP, and completes each accepted job exactly once, even if it is stopped in
 * between. On SIGTERM it accepts no more jobs, works for a grace period, and writes the remaining jobs to a file,
 * which it reads when it is started again.
 */
public final class WorkerServiceExample {

    /*
     * Overview.
     *
     * A job is done once its line, including the line end, is in the journal. A job that is accepted and not done is
     * open. One lock guards the journal and both sets, and each change of them is one step under it:
     *
     *   accept    adds a task to the pool and an id to `open`, or neither
     *   commit    adds a line to the journal and moves the id from `open` to `done`, or neither
     *   end       prevents further commits and writes the open jobs to the spool
     *
     * So an accepted job is either done or open, and after end() all open jobs are in the spool. An interrupted job is
     * done exactly if it has reached its commit. The report of the pool counts tasks, and names those that were
     * interrupted, never started, or are still running.
     *
     * If the process dies at another time:
     *   - While a line is written: the next start removes the incomplete line, and its job is open.
     *   - While the spool is written: the new file is renamed when it is complete, so a complete spool always exists.
     *   - Before the port is open: there is no hook, and the old spool remains. Its jobs that are done by now are
     *     ignored, because the journal takes precedence.
     *   - Between the acceptance and the answer: the client sends the job again. A known job is not accepted twice.
     *   - Killed (SIGKILL) later: the old spool remains, and jobs that were accepted since then and are not done are
     *     lost. A service that must not lose them has to record each job before it accepts it.
     */

    /** The work of a job. It may be interrupted, and then starts again after the next start of the service. */
    @FunctionalInterface
    public interface Work {
        /**
         * Performs a job. The job is committed when this returns.
         *
         * @param job the id of the job
         * @throws Exception if the job has failed; it is tried again after the next start
         */
        void run(String job) throws Exception;
    }

    private final class Job implements Runnable {
        private final String id;

        Job(String id) {
            this.id = id;
        }

        @Override
        public void run() {
            try {
                work.run(id);
                commit(id);
                System.out.println("done " + id);
            } catch (Exception failure) { // including an interrupt after the grace period; the job remains open
                System.out.println("not done " + id + ": " + failure);
            }
        }

        @Override
        public String toString() {
            return "job " + id;
        }
    }

    private static final Pattern ID = Pattern.compile("[A-Za-z0-9-]{1,100}");
    private static final String JOBS = "/jobs/";

    private final Work work;
    private final ThreadPool pool;
    private final Path spool;
    private final Path newSpool;
    private final RandomAccessFile
            journal; // guarded by this; a FileChannel would be closed by an interrupt of its writer
    private final Set<String> done = new HashSet<>(); // guarded by this
    private final Set<String> open = new LinkedHashSet<>(); // guarded by this
    private boolean ended; // guarded by this

    private WorkerServiceExample(Path directory, TimeSource time, Work work) throws IOException {
        this.work = work;
        spool = directory.resolve("spool");
        newSpool = directory.resolve("spool.new");
        journal = new RandomAccessFile(directory.resolve("journal").toFile(), "rw");
        if (journal.getChannel().tryLock() == null) {
            throw new IOException("directory \"" + directory + "\" must not be in use by another service");
        }
        pool = ThreadPool.builder("jobs")
                .threads(4)
                .queueCapacity(1000)
                .rejection(new ThreadPool.BlockPolicy()) // until the port is open
                .timeSource(time)
                .build();
    }

    /**
     * Starts a service whose jobs are short.
     *
     * @param args the directory; the port, any free one if 0 or missing; the grace period, PT20S if missing
     * @throws IOException if the directory or the port cannot be used
     */
    public static void main(String[] args) throws IOException {
        start(
                Path.of(args[0]),
                args.length > 1 ? Integer.parseInt(args[1]) : 0,
                args.length > 2 ? Duration.parse(args[2]) : Duration.ofSeconds(20),
                TimeSource.system(),
                job -> Thread.sleep(20)); // stands for a slow call
    }

    /**
     * Starts a service, which runs until the process receives a signal to terminate.
     *
     * @param directory the directory of its files
     * @param port the port on the loopback address; 0 for any
     * @param grace the time for which its jobs may go on after such a signal
     * @param time the time source for the grace period
     * @param work the work of a job
     * @throws IOException if the directory or the port cannot be used
     */
    public static void start(Path directory, int port, Duration grace, TimeSource time, Work work) throws IOException {
        WorkerServiceExample service = new WorkerServiceExample(directory, time, work);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext(JOBS, service::answerJob);
        server.createContext("/ready", service::answerReady);

        service.readJournal();
        for (String job : service.readSpool()) {
            service.pool.execute(service.new Job(job)); // waits for space in the queue
        }
        service.pool.setRejectionHandler(new ThreadPool.AbortPolicy()); // from now on the client is notified
        ThreadPool.drainOnExit(grace, service::end, service.pool);
        server.start();
        System.out.println("ready on port " + server.getAddress().getPort());
    }

    // ---- the two files

    private synchronized void readJournal() throws IOException {
        byte[] bytes = new byte[Math.toIntExact(journal.length())];
        journal.readFully(bytes);
        String text = new String(bytes, StandardCharsets.US_ASCII);
        String whole = text.substring(0, text.lastIndexOf('\n') + 1);
        journal.setLength(whole.length());
        journal.seek(whole.length());
        whole.lines().forEach(done::add);
    }

    private synchronized List<String> readSpool() throws IOException {
        if (Files.exists(spool)) {
            open.addAll(Files.readAllLines(spool));
            open.removeAll(done);
        }
        return List.copyOf(open);
    }

    private synchronized boolean accept(String job) {
        if (done.contains(job) || open.contains(job)) {
            return true;
        }
        try {
            pool.execute(new Job(job));
        } catch (RejectedExecutionException fullOrEnding) {
            return false;
        }
        open.add(job); // before its commit, which needs the lock
        return true;
    }

    private synchronized void commit(String job) throws IOException {
        if (ended) {
            throw new IOException("the commit is too late, the job is in the spool");
        }
        ended = true; // permanently if the line cannot be written completely: no line may follow it
        journal.write((job + "\n").getBytes(StandardCharsets.US_ASCII));
        ended = false;
        open.remove(job);
        done.add(job);
    }

    private synchronized void end(ShutdownReport report) {
        ended = true;
        System.out.println(report);
        report.stillRunning().forEach(task -> System.out.println("still running: " + task.task()));
        try {
            journal.getFD().sync();
            try (FileOutputStream file = new FileOutputStream(newSpool.toFile())) {
                String lines = open.isEmpty() ? "" : String.join("\n", open) + "\n";
                file.write(lines.getBytes(StandardCharsets.US_ASCII));
                file.getFD().sync();
            }
            Files.move(newSpool, spool, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failure) {
            throw new UncheckedIOException("jobs that could not be written to a file: " + open, failure);
        }
        System.out.println("spooled " + open.size() + " jobs");
    }

    // ---- the port

    private void answerJob(HttpExchange exchange) throws IOException {
        String job = exchange.getRequestURI().getPath().substring(JOBS.length());
        if (!exchange.getRequestMethod().equals("POST") || !ID.matcher(job).matches()) {
            answer(exchange, 400);
        } else {
            answer(exchange, accept(job) ? 202 : 503);
        }
    }

    private void answerReady(HttpExchange exchange) throws IOException {
        answer(exchange, pool.isShutdown() ? 503 : 200);
    }

    private static void answer(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }
}
