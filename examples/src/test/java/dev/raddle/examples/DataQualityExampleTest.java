package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.examples.DataQualityExample.Announcer;
import dev.raddle.examples.DataQualityExample.Delivery;
import dev.raddle.flow.CompensationFailure;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class DataQualityExampleTest {

    private static final String GOOD = "id,cents,country\n1,250,NO\n2,300,IS\n";

    private final CountDownLatch threeChecks = new CountDownLatch(3);
    private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(1)
            .addListener(new TaskListener() {
                @Override
                public void onSubmitted(TaskIdentity task) {
                    threeChecks.countDown();
                }
            })
            .build());

    @TempDir
    private Path staging;

    @TempDir
    private Path deliveries;

    @AfterEach
    void close() {
        executor.close();
    }

    private Delivery delivery(String source, String text) throws IOException {
        return new Delivery(source, Files.writeString(deliveries.resolve(source + ".csv"), text));
    }

    private DataQualityExample example(Announcer announcer) {
        return new DataQualityExample(executor, staging, announcer);
    }

    private List<Path> staged() {
        try (Stream<Path> files = Files.list(staging)) {
            return files.toList();
        } catch (IOException unexpected) {
            throw new UncheckedIOException(unexpected);
        }
    }

    private static List<String> skipped(FlowResult<?> result) {
        return result.nodes().stream()
                .filter(node -> node.state() == NodeState.SKIPPED)
                .map(NodeReport::id)
                .toList();
    }

    @Test
    void two_checks_are_enough_and_the_third_leaves_the_queue() throws Exception {
        DataQualityExample example = example(rows -> {});
        Delivery delivery = delivery("north", GOOD);
        FlowResult<Integer> result;
        executor.pauseGroup("north");
        try (ThreadScope scope = ThreadScope.open()) {
            Task<FlowResult<Integer>> north = scope.submit("north", () -> example.take(delivery));
            threeChecks.await(); // all of them are in the queue
            executor.resumeGroup("north");
            result = north.await();
        }

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(result.value()).isEqualTo(2);
        assertThat(example.stored()).containsExactly(delivery);
        assertThat(skipped(result)).hasSize(1);
        String third = skipped(result).getFirst();
        assertThat(third).isIn("ids", "cents", "countries");
        assertThat(result.explain(third))
                .startsWith("SKIPPED: \"store\" was decided by ")
                .endsWith("and \"" + third + "\" has no other undecided consumer");
    }

    @Test
    void a_check_of_a_missing_column_is_skipped() throws Exception {
        FlowResult<Integer> result = example(rows -> {}).take(delivery("north", "id,cents\n1,250\n"));

        assertThat(result.value()).isEqualTo(1);
        assertThat(result.explain("countries")) // the two other checks may have passed before it was granted a permit
                .startsWith("SKIPPED: ")
                .containsAnyOf("its condition was false at +", "has no other undecided consumer");
    }

    @Test
    void a_delivery_with_too_few_good_checks_is_not_stored_and_its_copy_is_removed() throws Exception {
        DataQualityExample example = example(rows -> {});

        FlowResult<Integer> result = example.take(delivery("north", "id,cents,country\n1,250,NO\n1,-300,IS\n"));

        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.node("store").state()).isEqualTo(NodeState.FAILED);
        assertThat(example.stored()).isEmpty();
        assertThat(staged()).isEmpty();
    }

    @Test
    void a_stored_delivery_is_removed_if_it_cannot_be_announced() throws Exception {
        DataQualityExample example = example(rows -> {
            throw new IOException("the announcement failed");
        });

        FlowResult<Integer> result = example.take(delivery("north", GOOD));

        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.node("store").state()).isEqualTo(NodeState.SUCCESS);
        assertThat(example.stored()).isEmpty();
        assertThat(staged()).isEmpty();
        assertThat(result.compensationFailures()).isEmpty();
    }

    @Test
    void a_compensation_that_fails_is_reported_and_the_others_run() throws Exception {
        DataQualityExample example = example(rows -> {
            Files.delete(staged().getFirst());
            throw new IOException("the announcement failed");
        });

        FlowResult<Integer> result = example.take(delivery("north", GOOD));

        assertThat(result.compensationFailures())
                .extracting(CompensationFailure::cause)
                .singleElement()
                .isInstanceOf(NoSuchFileException.class);
        assertThat(example.stored()).isEmpty();
    }

    @Test
    void a_source_that_waits_does_not_delay_another() throws Exception {
        DataQualityExample example = example(rows -> {});
        Delivery held = delivery("north", GOOD);
        executor.pauseGroup("north");
        try (ThreadScope scope = ThreadScope.open()) {
            Task<FlowResult<Integer>> north = scope.submit("north", () -> example.take(held));

            assertThat(example.take(delivery("south", GOOD)).status()).isEqualTo(FlowStatus.SUCCESS);
            assertThat(north.state()).isNotEqualTo(Task.State.SUCCESS);

            executor.resumeGroup("north");
            assertThat(north.await().status()).isEqualTo(FlowStatus.SUCCESS);
        }
    }
}
