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
 * A service that takes jobs over HTTP, and does each that it has accepted exactly once, although it is told to end in the
 * middle. On SIGTERM it takes no more, works for a grace period, and writes what is left into a file, which it picks up when
 * it is started again.
 */
public final class WorkerServiceExample {

    /*
     * Overview.
     *
     * A job is done when its line is in the journal, the end of the line included. A job that was accepted and is not done
     * is open. One lock guards the journal and both sets, and each change of them is one step under it:
     *
     *   accept    a task in the pool and an id in `open`, or neither
     *   commit    a line in the journal and the id from `open` to `done`, or neither
     *   end       no commit from now on; what is open goes into the spool
     *
     * So what was accepted is done or open, never both, and after end() what is open is in the spool. Whether a job that was
     * interrupted is done, only the job knows: it is, if it came to its commit. The pool's report counts tasks, and says
     * which of them were interrupted, never started, or run on.
     *
     * What if the process dies at another moment?
     *   - While a line is written: the torn line is cut off at the next start, and its job is open.
     *   - While the spool is written: it is written beside the old one and renamed, so one of the two is there, and whole.
     *   - Before the port is open: there is no hook, and the old spool still stands. What it says of jobs that are done by
     *     now does not count, because the journal wins.
     *   - Between the acceptance and the answer: the client sends the job again. A job that is known is not taken twice.
     *   - Killed outright (SIGKILL) later: the old spool still stands, and what came over HTTP since and is not done is lost.
     *     Who cannot bear that writes each job down before accepting it.
     */

    /** What is done for a job. It may be interrupted, and is then begun again in the next life. */
    @FunctionalInterface
    public interface Work {
        /**
         * Does what must be done before the job may be called done.
         *
         * @param job its id
         * @throws Exception if it is not to be called done; it is tried again after the next start
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
            } catch (Exception failure) { // an interrupt too: the grace is over, and the job stays open
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
     * @param args its directory; the port, any free one if it is 0 or missing; the grace, such as PT20S, which is the default
     * @throws IOException if the directory or the port cannot be used
     */
    public static void main(String[] args) throws IOException {
        start(
                Path.of(args[0]),
                args.length > 1 ? Integer.parseInt(args[1]) : 0,
                args.length > 2 ? Duration.parse(args[2]) : Duration.ofSeconds(20),
                TimeSource.system(),
                job -> Thread.sleep(20)); // in place of a call to something slow
    }

    /**
     * Starts a service, which runs until the process is told to end.
     *
     * @param directory where its files are
     * @param port where it listens, on the loopback address; 0 for any
     * @param grace how long its jobs may go on when it is told to end
     * @param time what the grace is measured with
     * @param work what is done for a job
     * @throws IOException if the directory or the port cannot be used
     */
    public static void start(Path directory, int port, Duration grace, TimeSource time, Work work) throws IOException {
        WorkerServiceExample service = new WorkerServiceExample(directory, time, work);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext(JOBS, service::answerJob);
        server.createContext("/ready", service::answerReady);

        service.readJournal();
        for (String job : service.readSpool()) {
            service.pool.execute(service.new Job(job)); // waits for room
        }
        service.pool.setRejectionHandler(new ThreadPool.AbortPolicy()); // from now on the client is told
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
        open.add(job); // before it can be done, which takes the lock
        return true;
    }

    private synchronized void commit(String job) throws IOException {
        if (ended) {
            throw new IOException("it comes too late, and is in the spool");
        }
        ended = true; // for good, if the line cannot be written whole: none may follow it
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
            throw new UncheckedIOException("jobs that are in no file: " + open, failure);
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
