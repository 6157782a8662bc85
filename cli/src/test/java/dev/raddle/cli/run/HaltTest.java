package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.GroupRule;
import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.template.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
@ResourceLock(Session.SIGNALS)
class HaltTest {
    @TempDir
    private Path directory;

    private final Recorder recorder = new Recorder();
    private final AtomicInteger made = new AtomicInteger();

    /** Runs an endless number of tasks, of which all have the same script; {@code $n} is the number of the task. */
    private int run(String halt, int limit, String script) throws Exception {
        Limits limits = new Limits(new GroupRule(limit, null, null, null), Map.of(), 256, Limits.UNLIMITED, null);
        LineTasks tasks = () -> {
            String id = Integer.toString(made.incrementAndGet());
            Command command = new Command(List.of("sh", "-c", script), Map.of("n", id), script);
            return new LineTasks.LineTask(
                    new PlannedTask(id, "all", command, Map.of(), directory, null, Retry.NONE, 0, 1), "");
        };
        WorkFiles files = new WorkFiles(RunDirectory.create(directory.resolve("run")), true);
        LineWork work = new LineWork(tasks, limits, files, null, List.of(), 100);
        RunSession.Settings settings = new RunSession.Settings(Duration.ofSeconds(5), Halt.parse(halt));
        RunListener finishing = event -> {
            if (event instanceof RunEvent.RunStopping) {
                Files.createFile(directory.resolve("stopping"));
            }
        };
        return new RunSession(settings, List.of(recorder, finishing), List.of(), RunScreen.NONE, Session.CLOCK)
                .run(work);
    }

    @Test
    void as_many_failures_as_given_end_the_run_and_nothing_starts_after_them() throws Exception {
        assertThat(run("soon,fail=2", 1, "[ $n != 2 ] && [ $n != 4 ]")).isEqualTo(ExitCode.FAILED);

        assertThat(recorder.all(RunEvent.AttemptStarted.class)).hasSize(4);
        assertThat(recorder.all(RunEvent.TaskEnded.class))
                .extracting(RunEvent.TaskEnded::result)
                .filteredOn(result -> result.attempts() == 0)
                .allSatisfy(result -> assertThat(result.error()).isEqualTo("not started, the run was stopped"));
    }

    @Test
    void as_many_successes_as_given_end_the_run_with_success_whatever_failed() throws Exception {
        assertThat(run("now,success=2", 1, "[ $n -gt 3 ]")).isEqualTo(ExitCode.OK);

        assertThat(recorder.all(RunEvent.AttemptStarted.class)).hasSize(5);
    }

    @Test
    void soon_lets_running_commands_end() throws Exception {
        String await = "until [ -e %s ]; do sleep 0.01; done; ";
        String script = "[ $n = 1 ] || { " + await.formatted("started") + "exit 1; }; touch started; "
                + await.formatted("stopping") + "touch done";

        assertThat(run("soon,fail=1", 2, script)).isEqualTo(ExitCode.FAILED);

        assertThat(recorder.result("1").succeeded()).isTrue();
        assertThat(directory.resolve("done")).exists();
        assertThat(recorder.all(RunEvent.RunStopping.class))
                .extracting(RunEvent.RunStopping::reason)
                .containsExactly(Stop.Reason.FAILED);
    }

    @Test
    void now_ends_running_commands() throws Exception {
        String script = "[ $n = 1 ] && exec sleep 600; exit 1";

        assertThat(run("now,fail=1", 2, script)).isEqualTo(ExitCode.FAILED);

        assertThat(recorder.result("1").state()).isEqualTo(TaskState.CANCELLED);
    }

    @Test
    void a_share_counts_from_three_on() throws Exception {
        assertThat(run("soon,fail=50%", 1, "[ $n = 3 ]")).isEqualTo(ExitCode.FAILED);

        assertThat(recorder.all(RunEvent.AttemptStarted.class)).hasSize(4); // 3 of 4
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "now",
                "never",
                "now,fail",
                "now,fail=0",
                "now;fail=1",
                "soon,done=1",
                "soon,fail=1%%",
                "now,fail=101%"
            })
    void any_other_form_is_refused(String text) {
        assertThatThrownBy(() -> Halt.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("such as now,fail=1, was \"" + text + "\"");
    }
}
