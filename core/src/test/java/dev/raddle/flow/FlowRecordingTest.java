package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events of flow nodes in flight recordings. */
class FlowRecordingTest {

    private static final String TASK = "dev.raddle.Task";

    private final VirtualTime time = new VirtualTime();
    private final FlowBuilder<Void> f = FlowPlan.define("recorded flow");

    @TempDir
    private Path directory;

    private List<RecordedEvent> eventsOf(Recording recording) throws Exception {
        Path file = directory.resolve("nodes.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(TASK))
                .toList();
    }

    private static Recording recording() {
        Recording recording = new Recording();
        recording.enable(TASK);
        recording.start();
        return recording;
    }

    @Test
    void a_recording_contains_flow_id_outcome_and_times_of_each_node() throws Exception {
        Node<Integer> good = f.node("good", () -> {
            time.advance(Duration.ofSeconds(2));
            return 1;
        });
        Node<Integer> bad = f.node("bad", good, x -> {
            time.advance(Duration.ofSeconds(3));
            throw new IllegalStateException("broken");
        });
        f.node("never", bad, x -> x);
        f.node("unwanted", good, x -> x).when(c -> false);
        try (Recording recording = recording()) {
            f.build().run(null, RunOptions.defaults().withTimeSource(time).inCallersThread());

            List<RecordedEvent> ours = eventsOf(recording).stream()
                    .filter(event -> "recorded flow".equals(event.getString("flow")))
                    .toList();
            assertThat(ours)
                    .extracting(
                            event -> event.getString("name"),
                            event -> event.getString("outcome"),
                            event -> event.getDuration("runTime").toSeconds())
                    .containsExactlyInAnyOrder(
                            tuple("good", "success", 2L),
                            tuple("bad", "failed", 3L),
                            tuple("never", "failed", 0L),
                            tuple("unwanted", "skipped", 0L));
            assertThat(ours).allSatisfy(event -> {
                assertThat(event.getString("group")).isNull();
                assertThat(event.getString("scope")).isNull();
            });
        }
    }

    @Test
    void a_node_in_a_group_is_also_recorded_there_by_its_id() throws Exception {
        f.node("rows", () -> 1).group("recorded group");
        FlowPlan<Void, Void> plan = f.build();
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = GroupPolicy.builder().scheduler(key -> steps).build();
        try (Recording recording = recording();
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            FlowRun<Void> run = plan.start(null, RunOptions.defaults().withGroups(executor::scheduler));
            steps.runAll(); // when this returns, the task of the group has ended, not only its node
            run.join();

            assertThat(eventsOf(recording))
                    .filteredOn(event -> "rows".equals(event.getString("name")))
                    .extracting(event -> event.getString("flow"), event -> event.getString("group"))
                    .containsExactlyInAnyOrder(tuple("recorded flow", null), tuple(null, "recorded group"));
        }
    }

    @Test
    void a_flow_without_a_recording_has_no_events() throws Exception {
        f.node("silent", () -> 1);
        FlowPlan<Void, Void> plan = f.build();
        try (Recording recording = new Recording()) {
            recording.disable(TASK);
            recording.start();
            plan.run(null);
            assertThat(eventsOf(recording))
                    .filteredOn(event -> "silent".equals(event.getString("name")))
                    .isEmpty();
        }
    }
}
