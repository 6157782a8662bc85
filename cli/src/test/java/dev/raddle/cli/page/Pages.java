package dev.raddle.cli.page;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.run.Report;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.Tally;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.cli.run.TaskState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Pages of invented runs. */
final class Pages {
    static final Instant BEGIN = Instant.parse("2026-01-31T09:30:00Z");

    private Pages() {}

    static Plan plan(String text) throws Exception {
        return new PlanReader("build.yaml", Path.of("/somewhere"), name -> new byte[0]).read(text);
    }

    /** Returns the result of a task that was ready, began and ended at given milliseconds. */
    static TaskResult result(
            PlannedTask task, TaskState state, long ready, long start, long end, @Nullable Path output) {
        boolean ran = state != TaskState.SKIPPED;
        return new TaskResult(task.id(), task.group(), task.command().shown(), state)
                .withAttempts(ran ? 1 : 0, ran ? (state == TaskState.SUCCEEDED ? 0 : 1) : null)
                .withTimes(start - ready, end - start)
                .withOutput(output == null ? null : output.toString())
                .withError(
                        state == TaskState.SUCCEEDED ? null : state == TaskState.SKIPPED ? "not needed" : "exit code 1")
                .withEndedAt(BEGIN.plusMillis(end));
    }

    static Path write(Plan plan, List<TaskResult> results, Path file) throws Exception {
        end(new PlanRun(plan, file, BEGIN), plan, results);
        return file;
    }

    /** Ends a run, which writes its page. */
    static void end(PlanRun run, Plan plan, List<TaskResult> results) throws Exception {
        Tally tally = new Tally();
        long wall = 0;
        for (TaskResult result : results) {
            tally.on(new RunEvent.TaskEnded(BEGIN, result));
            wall = Math.max(wall, Duration.between(BEGIN, result.endedAt()).toMillis());
        }
        Report report = new Report(
                plan.name(),
                null,
                BEGIN,
                BEGIN.plusMillis(wall),
                1,
                0,
                tally.summary(Duration.ofMillis(wall)),
                plan.limits()::limit,
                Map.of(),
                Map.of(),
                action -> {
                    for (TaskResult result : results) {
                        action.accept(result);
                    }
                });
        run.write(report);
    }

    /** A hundred layers of a hundred tasks in four groups. */
    static Path tenThousand(Path directory) throws Exception {
        StringBuilder text = new StringBuilder("name: ten-thousand\ntasks:\n");
        for (int layer = 0; layer < 100; layer++) {
            for (int i = 0; i < 100; i++) {
                text.append("- { id: t")
                        .append(layer)
                        .append('-')
                        .append(i)
                        .append(", group: g")
                        .append(i % 4);
                text.append(", run: 'true'");
                if (layer > 0) {
                    text.append(", needs: [t").append(layer - 1).append('-').append(i);
                    text.append(", { after: t")
                            .append(layer - 1)
                            .append('-')
                            .append((i + 1) % 100)
                            .append(" }]");
                }
                text.append(" }\n");
            }
        }
        Plan plan = plan(text.toString());
        Path output = Files.writeString(directory.resolve("some.log"), "a line of output\n".repeat(20));
        List<TaskResult> results = new ArrayList<>();
        for (int i = 0; i < plan.tasks().size(); i++) {
            long ready = (i / 100) * 100L;
            TaskState state =
                    i % 997 == 996 ? TaskState.FAILED : i % 499 == 498 ? TaskState.SKIPPED : TaskState.SUCCEEDED;
            results.add(result(plan.tasks().get(i), state, ready, ready + i % 17, ready + 30 + i % 61, output));
        }
        return write(plan, results, directory.resolve("ten-thousand.html"));
    }

    /** Writes the page of a small build with a failure and hostile content. */
    static Path build(Path directory) throws Exception {
        Plan plan = plan("""
                name: "</script><script>document.title='owned'</script>"
                groups: { cpu: { limit: 2 }, net: { limit: 4 } }
                tasks:
                  - { id: fetch-a, group: net, run: "curl a" }
                  - { id: fetch-b, group: net, run: "curl b" }
                  - { id: compile, group: cpu, run: "make", needs: [{ any: [fetch-a, fetch-b] }] }
                  - { id: lint, group: cpu, run: "lint", needs: fetch-a }
                  - { id: "<img src=x onerror=\\"document.title='owned'\\">", group: cpu, run: "evil", needs: compile }
                  - { id: test, group: cpu, run: "make test", needs: [compile, { optional: lint }] }
                  - { id: publish, group: net, run: "push", needs: test }
                """);
        Path evil = Files.writeString(
                directory.resolve("evil.log"),
                "</script><script>document.title='owned'</script>\n<!-- <b>bold</b> \u001b[31mred\u001b[0m"
                        + " &amp; \u2028\n");
        List<PlannedTask> tasks = plan.tasks();
        return write(
                plan,
                List.of(
                        result(tasks.get(0), TaskState.SUCCEEDED, 0, 10, 400, evil),
                        result(tasks.get(1), TaskState.SUCCEEDED, 0, 12, 900, evil),
                        result(tasks.get(2), TaskState.SUCCEEDED, 400, 420, 1900, evil),
                        result(tasks.get(3), TaskState.FAILED, 400, 450, 700, evil),
                        result(tasks.get(4), TaskState.SUCCEEDED, 1900, 1900, 2000, evil),
                        result(tasks.get(5), TaskState.SUCCEEDED, 1900, 2100, 4000, evil),
                        result(tasks.get(6), TaskState.SKIPPED, 4000, 4000, 4000, null)),
                directory.resolve("build.html"));
    }

    /** Writes the page of tasks without dependencies. */
    static Path flat(Path directory, int tasks) throws Exception {
        return simple(directory, tasks, false);
    }

    /** Writes the page of tasks that each need the one before. */
    static Path chain(Path directory, int tasks) throws Exception {
        return simple(directory, tasks, true);
    }

    private static Path simple(Path directory, int tasks, boolean chained) throws Exception {
        StringBuilder text = new StringBuilder("name: simple\ntasks:\n");
        for (int i = 0; i < tasks; i++) {
            text.append("- { id: t").append(i).append(", run: 'true'");
            text.append(chained && i > 0 ? ", needs: t" + (i - 1) + " }\n" : " }\n");
        }
        Plan plan = plan(text.toString());
        List<TaskResult> results = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            results.add(result(plan.tasks().get(i), TaskState.SUCCEEDED, 0, i, i + 20, null));
        }
        return write(plan, results, directory.resolve("simple.html"));
    }

    /** Writes the page of a failure whose six consequences stand before it in the plan. */
    static Path consequences(Path directory) throws Exception {
        StringBuilder text = new StringBuilder("tasks:\n");
        for (int i = 0; i < 6; i++) {
            text.append("- { id: t").append(i).append(", run: 'true', needs: cause }\n");
        }
        Plan plan = plan(text.append("- { id: cause, run: 'false' }\n").toString());
        List<TaskResult> results = new ArrayList<>();
        for (PlannedTask task : plan.tasks()) {
            boolean ran = task.id().equals("cause");
            TaskResult result = result(task, TaskState.FAILED, ran ? 0 : 90, ran ? 10 : 90, 90, null);
            results.add(
                    ran ? result : result.withAttempts(0, null).withTimes(0, 0).withError("not started"));
        }
        return write(plan, results, directory.resolve("consequences.html"));
    }

    /** Writes the page of a task that succeeds at its third attempt. */
    static Path retried(Path directory) throws Exception {
        Plan plan = plan("tasks: [{ id: flaky, run: ./flaky, retry: { attempts: 3 } }]");
        PlannedTask task = plan.tasks().getFirst();
        Path file = directory.resolve("retried.html");
        PlanRun run = new PlanRun(plan, file, BEGIN);
        run.on(new RunEvent.RunStarted(BEGIN, "retried", 1, 1, null, 0));
        run.on(new RunEvent.TaskQueued(BEGIN, task.id(), task.group()));
        for (int attempt = 1; attempt <= 3; attempt++) {
            Instant start = BEGIN.plusMillis(200L * attempt - 150);
            run.on(new RunEvent.AttemptStarted(start, task.id(), task.group(), attempt, 3, 1, null, null));
            if (attempt < 3) {
                run.on(new RunEvent.AttemptFailed(
                        start.plusMillis(100),
                        task.id(),
                        task.group(),
                        attempt,
                        3,
                        6 + attempt,
                        "exit code " + (6 + attempt),
                        Duration.ofMillis(100)));
            }
        }
        TaskResult result = result(task, TaskState.SUCCEEDED, 0, 50, 500, null);
        run.on(new RunEvent.TaskEnded(BEGIN.plusMillis(500), result));
        end(run, plan, List.of(result));
        return file;
    }
}
