package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the events of tasks in flight recordings. */
class TaskRecordingTest {

    private static final String TASK = "dev.raddle.Task";
    private static final String REJECTION = "dev.raddle.Rejection";
    private static final Set<String> OUR_GROUPS = Set.of("recorded", "unrecorded");

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    @TempDir
    private Path directory;

    private GroupPolicy.Builder policy() {
        return GroupPolicy.builder()
                .timeSource(time)
                .scheduler(key -> steps)
                .closeTimeout(Duration.ZERO)
                .defaultMaxConcurrencyPerGroup(1)
                .rejectionPolicy(RejectionPolicy.DISCARD);
    }

    private static Recording recordingOf(String... events) {
        Recording recording = new Recording();
        for (String event : events) {
            recording.enable(event);
        }
        recording.start();
        return recording;
    }

    private List<RecordedEvent> eventsOf(Recording recording, String name) throws Exception {
        Path file = directory.resolve("tasks.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .filter(TaskRecordingTest::isOurs)
                .toList();
    }

    /** Excludes tasks of other tests, which may still run and be recorded. */
    private static boolean isOurs(RecordedEvent event) {
        String group = event.getString("group");
        return group == null ? "checkout".equals(event.getString("scope")) : OUR_GROUPS.contains(group);
    }

    private RecordedEvent onlyTask(Recording recording) throws Exception {
        List<RecordedEvent> events = eventsOf(recording, TASK);
        assertThat(events).hasSize(1);
        return events.getFirst();
    }

    private Callable<String> taking(Duration length) {
        return () -> {
            time.advance(length);
            return "value";
        };
    }

    @Test
    void a_recording_has_group_name_outcome_and_times_of_a_task() throws Exception {
        try (Recording recording = recordingOf(TASK);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            executor.submit("recorded", "t1", taking(Duration.ofSeconds(3)));
            time.advance(Duration.ofSeconds(2));
            steps.runAll();

            RecordedEvent event = onlyTask(recording);
            assertThat(event.getString("group")).isEqualTo("recorded");
            assertThat(event.getString("scope")).isNull();
            assertThat(event.getString("name")).isEqualTo("t1");
            assertThat(event.getString("outcome")).isEqualTo("success");
            assertThat(event.getDuration("waitTime")).isEqualTo(Duration.ofSeconds(2));
            assertThat(event.getDuration("runTime")).isEqualTo(Duration.ofSeconds(3));
        }
    }

    /** An event of this test, with the same clock as the events of tasks. */
    @Name("dev.raddle.test.InTask")
    static final class InTask extends Event {}

    @Test
    void an_event_begins_when_its_task_began_whatever_the_outcome() throws Exception {
        GroupPolicy policy = policy().defaultMaxConcurrencyPerGroup(3)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();
        FlowBuilder<Void> f = FlowPlan.define("recorded");
        f.node("node", TaskRecordingTest::mark);
        try (Recording recording = recordingOf(TASK, "dev.raddle.test.InTask");
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                ThreadScope scope = ThreadScope.open("checkout").withScheduler(steps)) {
            executor.submit("recorded", "success", TaskRecordingTest::mark);
            TaskHandle<?>[] self = new TaskHandle<?>[1];
            self[0] = executor.submit("recorded", "cancelled", () -> {
                mark();
                self[0].cancel(true);
                return mark();
            });
            scope.submit("scoped", TaskRecordingTest::mark);
            executor.submit("recorded", "third", () -> "value");
            executor.submit("recorded", "by its submitter", TaskRecordingTest::mark);
            steps.runAll();
            f.build().run(null, RunOptions.defaults().inCallersThread());

            Path file = directory.resolve("all.jfr");
            recording.dump(file);
            List<RecordedEvent> all = RecordingFile.readAllEvents(file);
            List<RecordedEvent> marks = all.stream()
                    .filter(event -> event.getEventType().getName().equals("dev.raddle.test.InTask"))
                    .toList();
            assertThat(marks).hasSize(6);
            for (String name : List.of("success", "cancelled", "scoped", "by its submitter", "node")) {
                RecordedEvent task = all.stream()
                        .filter(event -> event.getEventType().getName().equals(TASK))
                        .filter(event -> name.equals(event.getString("name")))
                        .findFirst()
                        .orElseThrow();
                assertThat(marks)
                        .as(name)
                        .filteredOn(mark -> !mark.getStartTime().isBefore(task.getStartTime())
                                && !mark.getEndTime().isAfter(task.getEndTime()))
                        .hasSize(1);
            }
        }
    }

    private static String mark() {
        new InTask().commit();
        return "value";
    }

    @Test
    void a_failure_and_a_task_that_was_cancelled_while_it_waited_are_recorded_with_their_times() throws Exception {
        try (Recording recording = recordingOf(TASK);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            executor.submit("recorded", "fails", () -> {
                time.advance(Duration.ofSeconds(1));
                throw new AssertionError("on purpose");
            });
            TaskHandle<String> waiting = executor.submit("recorded", "waits", () -> "never");
            time.advance(Duration.ofSeconds(5));
            waiting.cancel(true);
            steps.runAll();

            assertThat(eventsOf(recording, TASK))
                    .extracting(
                            event -> event.getString("name"),
                            event -> event.getString("outcome"),
                            event -> event.getDuration("waitTime"),
                            event -> event.getDuration("runTime"))
                    .containsExactly(
                            tuple("waits", "cancelled", Duration.ofSeconds(5), Duration.ZERO),
                            tuple("fails", "failed", Duration.ofSeconds(5), Duration.ofSeconds(1)));
        }
    }

    @Test
    void a_task_that_is_cancelled_while_it_runs_is_recorded_with_the_time_that_it_waited() throws Exception {
        try (Recording recording = recordingOf(TASK);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            TaskHandle<?>[] self = new TaskHandle<?>[1];
            self[0] = executor.submit("recorded", "t1", () -> {
                time.advance(Duration.ofSeconds(3));
                self[0].cancel(true);
                time.advance(Duration.ofSeconds(1)); // after the cancellation
                return "late";
            });
            time.advance(Duration.ofSeconds(2));
            steps.runAll();

            RecordedEvent event = onlyTask(recording);
            assertThat(event.getString("outcome")).isEqualTo("cancelled");
            assertThat(event.getDuration("waitTime")).isEqualTo(Duration.ofSeconds(2));
            assertThat(event.getDuration("runTime")).isEqualTo(Duration.ofSeconds(3));
        }
    }

    @Test
    void a_rejection_is_recorded_with_its_reason_and_the_task_with_its_outcome() throws Exception {
        GroupPolicy policy = policy().defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();
        try (Recording recording = recordingOf(TASK, REJECTION);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("recorded", "runs", () -> "value");
            executor.submit("recorded", "too many", taking(Duration.ofSeconds(1)));

            RecordedEvent rejection = eventsOf(recording, REJECTION).getFirst();
            assertThat(rejection.getString("group")).isEqualTo("recorded");
            assertThat(rejection.getString("name")).isEqualTo("too many");
            assertThat(rejection.getString("reason")).startsWith("group-queue: 1 of 1 running");
            RecordedEvent task = onlyTask(recording);
            assertThat(task.getString("name")).isEqualTo("too many");
            assertThat(task.getString("outcome")).isEqualTo("success");
            assertThat(task.getDuration("waitTime")).isZero();
            assertThat(task.getDuration("runTime")).isEqualTo(Duration.ofSeconds(1));
            steps.runAll();
        }
    }

    @Test
    void a_task_that_was_submitted_before_the_recording_began_has_no_waiting_time() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            executor.submit("recorded", "t1", () -> "value");
            time.advance(Duration.ofSeconds(2));
            try (Recording recording = recordingOf(TASK)) {
                steps.runAll();

                assertThat(onlyTask(recording).getLong("waitTime")).isEqualTo(Long.MIN_VALUE);
            }
        }
    }

    @Test
    void a_recording_has_scope_name_outcome_and_times_of_a_task_of_a_scope() throws Exception {
        try (Recording recording = recordingOf(TASK)) {
            try (ThreadScope scope =
                    ThreadScope.open("checkout").withTimeSource(time).withScheduler(steps)) {
                Task<String> task = scope.submit("price", taking(Duration.ofSeconds(3)));
                time.advance(Duration.ofSeconds(2));
                steps.runAll();
                assertThat(task.await()).isEqualTo("value");
            }

            RecordedEvent event = onlyTask(recording);
            assertThat(event.getString("group")).isNull();
            assertThat(event.getString("scope")).isEqualTo("checkout");
            assertThat(event.getString("name")).isEqualTo("price");
            assertThat(event.getString("outcome")).isEqualTo("success");
            assertThat(event.getDuration("waitTime")).isEqualTo(Duration.ofSeconds(2));
            assertThat(event.getDuration("runTime")).isEqualTo(Duration.ofSeconds(3));
        }
    }

    @Test
    void a_task_that_is_cancelled_before_its_submission_time_has_a_waiting_time_of_zero() throws Exception {
        try (Recording recording = recordingOf(TASK)) {
            ScopedRun run = new ScopedRun(() -> "value", time, time.nanoTime() + 1_000);
            run.cancelRun();

            RecordedEvent event = onlyTask(recording);
            assertThat(event.getString("outcome")).isEqualTo("cancelled");
            assertThat(event.getDuration("waitTime")).isZero();
        }
    }

    @Test
    void a_recording_without_these_events_has_no_events_of_tasks() throws Exception {
        GroupPolicy policy = policy().defaultQueueThresholdPerGroup(0).build();
        try (Recording recording = recordingOf();
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("unrecorded", "t1", () -> "value");
            executor.submit("unrecorded", "rejected", () -> "value");
            steps.runAll();

            assertThat(eventsOf(recording, TASK)).isEmpty();
            assertThat(eventsOf(recording, REJECTION)).isEmpty();
        }
    }

    @Test
    void tasks_run_and_are_rejected_in_a_runtime_image_without_a_recorder() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--limit-modules",
                        "java.base",
                        "-cp",
                        placeOf(TaskRun.class) + File.pathSeparator + placeOf(WithoutRecorder.class),
                        WithoutRecorder.class.getName())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(output.lines()).contains("recorder false, SUCCESS, REJECTED");
        assertThat(process.waitFor()).isZero();
    }

    private static Path placeOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** A program for a process without the module {@code jdk.jfr}. */
    static final class WithoutRecorder {
        private WithoutRecorder() {}

        public static void main(String[] args) throws InterruptedException {
            StepScheduler steps = new StepScheduler();
            GroupPolicy policy = GroupPolicy.builder()
                    .scheduler(key -> steps)
                    .defaultMaxConcurrencyPerGroup(1)
                    .defaultQueueThresholdPerGroup(0)
                    .rejectionPolicy(RejectionPolicy.DISCARD)
                    .build();
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
                TaskHandle<String> runs = executor.submit("g", "runs", () -> "value");
                TaskHandle<String> rejected = executor.submit("g", "rejected", () -> "never");
                steps.runAll();
                Recorder.settled(Recorder.OwnerKind.FLOW, "flow", "node", TaskStatus.SUCCESS, 0, 0, null);
                System.out.println("recorder " + Recorder.isOn() + ", "
                        + runs.await().status() + ", " + rejected.await().status());
            }
        }
    }

    /** A run of an API without groups. */
    private static final class ScopedRun extends TaskRun<String> {
        private final TimeSource time;

        ScopedRun(Callable<String> callable, TimeSource time, long submitNanos) {
            super(callable, submitNanos);
            this.time = time;
        }

        void cancelRun() {
            cancel(new Outcome.Cancelled<>(new CancelledException("by the test")), false);
        }

        @Override
        protected ClassLoader loader() {
            return Thread.currentThread().getContextClassLoader();
        }

        @Override
        protected ExceptionSink sink() {
            return ExceptionSink.logging();
        }

        @Override
        protected TimeSource time() {
            return time;
        }

        @Override
        protected void started(long waitNanos) {}

        @Override
        protected void settled(Outcome<String> outcome) {}

        @Override
        protected TaskRun<?> releasePermits(long ranNanos, long grantedNanos, long nowNanos) {
            return null;
        }

        @Override
        public String owner() {
            return "checkout";
        }

        @Override
        public String name() {
            return "price";
        }
    }
}
