package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.GroupRule;
import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.template.Command;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

@Timeout(60)
@ResourceLock(Session.SIGNALS)
class LineWorkTest {
    @TempDir
    private Path directory;

    private final Recorder recorder = new Recorder();

    /** Endless numbered lines; counts how many were read. */
    @SuppressWarnings("InputStreamSlowMultibyteRead") // a slow stream is easier to count
    private static final class Endless extends InputStream {
        private final AtomicInteger lines = new AtomicInteger();
        private byte[] line = {};
        private int index;

        @Override
        public int read() {
            if (index == line.length) {
                line = (lines.incrementAndGet() + "\n").getBytes(StandardCharsets.UTF_8);
                index = 0;
            }
            return line[index++];
        }
    }

    private LineWork work(InputStream input, int readAhead) throws IOException {
        Limits limits = new Limits(new GroupRule(2, null, null, null), Map.of(), 256, Limits.UNLIMITED, null);
        WorkFiles files = new WorkFiles(RunDirectory.create(directory), true);
        return new LineWork(tasks(input), limits, files, null, List.of(), readAhead);
    }

    private LineTasks tasks(InputStream input) {
        LineInput lines = new LineInput(input, "standard input", '\n');
        return () -> {
            LineInput.Line line = lines.next();
            return line == null ? null : task(line, line.at().line());
        };
    }

    private LineTasks.LineTask task(LineInput.Line line, long number) {
        Command command = new Command(List.of("echo", line.text()), Map.of(), line.text());
        PlannedTask task =
                new PlannedTask(Long.toString(number), "all", command, Map.of(), directory, null, Retry.NONE, 0, 1);
        return new LineTasks.LineTask(task, line.text().equals("3") ? "three is no good" : "");
    }

    private Callable<Integer> session(LineWork work, RunListener... others) {
        RunSession.Settings settings = new RunSession.Settings(Duration.ofSeconds(5), null);
        List<RunListener> displays = new ArrayList<>(List.of(recorder));
        displays.addAll(List.of(others));
        return () -> new RunSession(settings, displays, List.of(), RunScreen.NONE, Session.CLOCK).run(work);
    }

    /** The input is endless, so a failure must end the run. */
    private static void breakAfterFive(RunEvent event) {
        if (event instanceof RunEvent.TaskEnded ended && ended.result().id().equals("5")) {
            throw new IllegalStateException("that is enough");
        }
    }

    @Test
    void reading_pauses_while_too_many_tasks_are_unfinished() throws Exception {
        Endless input = new Endless();
        LineWork work = work(input, 3);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<Integer> exitCode = threads.submit(session(work, LineWorkTest::breakAfterFive));
            for (int ended = 1; ended <= 3; ended++) {
                recorder.await(RunEvent.TaskEnded.class, event -> true);
            }
            assertThat(input.lines.get()).isBetween(3, 4);

            work.finished();
            recorder.await(
                    RunEvent.TaskEnded.class, event -> event.result().id().equals("4"));
            assertThat(input.lines.get()).isBetween(4, 5);

            work.finished();
            recorder.await(
                    RunEvent.TaskEnded.class, event -> event.result().id().equals("5"));
            assertThatThrownBy(exitCode::get).hasRootCauseMessage("that is enough");
        }
    }

    @Test
    void a_line_that_cannot_be_a_task_fails_and_the_others_run() throws Exception {
        InputStream input = new ByteArrayInputStream("1\n2\n3\n4\n".getBytes(StandardCharsets.UTF_8));

        assertThat(session(work(input, 100)).call()).isEqualTo(ExitCode.FAILED);

        assertThat(recorder.result("3").error()).isEqualTo("three is no good");
        assertThat(recorder.result("3").attempts()).isZero();
        assertThat(recorder.result("4").succeeded()).isTrue();
    }

    @Test
    void the_start_of_a_process_is_read_only_for_a_journal() throws Exception {
        InputStream input = new ByteArrayInputStream("1\n".getBytes(StandardCharsets.UTF_8));
        session(work(input, 100)).call();
        try (Journal journal = Journal.open(directory.resolve("journal.jsonl"))) {
            LineWork recorded = new LineWork(
                    tasks(new ByteArrayInputStream("2\n".getBytes(StandardCharsets.UTF_8))),
                    new Limits(new GroupRule(1, null, null, null), Map.of(), 1, Limits.UNLIMITED, null),
                    new WorkFiles(RunDirectory.create(directory.resolve("recorded")), true),
                    journal,
                    List.of(),
                    1);
            session(recorded).call();
        }

        assertThat(recorder.all(RunEvent.AttemptStarted.class))
                .extracting(started -> started.processStart() != null)
                .containsExactly(false, true);
    }

    @Test
    @SuppressWarnings("InputStreamSlowMultibyteRead")
    void an_error_of_the_input_is_an_error_of_the_run() throws Exception {
        InputStream input = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("gone");
            }
        };

        assertThatThrownBy(session(work(input, 100))::call).hasMessage("standard input cannot be read: gone");
    }
}
