package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.after;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FileJournal;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The failure of a run is the cause of the exception that its value throws, wherever the run is. */
@Timeout(120)
class StoredFailureTest {
    private static final int PLANS = 40;

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    @Test
    void a_run_shows_the_failure_that_its_value_throws_in_memory_in_a_file_and_in_the_database(@TempDir Path directory)
            throws Exception {
        FlowService.Builder builder = database.service();
        List<FlowPlan<String, String>> plans = new ArrayList<>();
        for (int seed = 0; seed < PLANS; seed++) {
            plans.add(plan(seed));
            builder.register(plans.getLast(), "1", FlowCodec.text());
        }
        int failures = 0;
        try (FlowService service = builder.start()) {
            for (FlowPlan<String, String> plan : plans) {
                service.submit(plan.name(), plan.name(), "p");
            }
            for (FlowPlan<String, String> plan : plans) {
                FlowResult<String> inMemory = plan.run("p");
                String expected = text(inMemory.failure()); // a run with a value may have failed elsewhere
                if (thrown(inMemory) != null) {
                    failures++;
                    assertThat(expected).as(plan.name()).isEqualTo(thrown(inMemory));
                }
                try (FileJournal journal = FileJournal.open(directory.resolve(plan.name()), FlowCodec.text())) {
                    FlowResult<String> inFile =
                            plan.run("p", RunOptions.defaults().withJournal(journal));
                    assertThat(thrown(inFile)).as(plan.name() + " in a file").isEqualTo(thrown(inMemory));
                    assertThat(text(inFile.failure()))
                            .as(plan.name() + " in a file")
                            .isEqualTo(expected);
                }
                RecordedFailure stored = service.await(plan.name(), Await.BOUND).failure();
                assertThat(stored == null ? null : stored.type() + ": " + stored.message())
                        .as(plan.name() + " in the database")
                        .isEqualTo(expected);
            }
        }
        assertThat(failures).as("runs without a value").isBetween(PLANS / 4, PLANS - 1);
    }

    @Test
    void a_run_ends_whose_exception_has_a_broken_trace_and_a_codec_may_throw_anything() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        FlowBuilder<String> f = FlowPlan.define("trace", String.class);
        FlowPlan<String, String> trace = f.returning(f.node("n", c -> {
            calls.incrementAndGet();
            throw new IllegalStateException("q") {
                private static final long serialVersionUID = 1;

                @Override
                public StackTraceElement[] getStackTrace() {
                    throw new IllegalStateException("no trace");
                }
            };
        }));
        FlowBuilder<String> g = FlowPlan.define("codec", String.class);
        FlowPlan<String, String> other = g.returning(g.node("n", c -> c.param()));
        FlowCodec codec = new FlowCodec() {
            @Override
            public byte[] encode(Object value) throws IOException {
                return FlowCodec.text().encode(value);
            }

            @Override
            public Object decode(byte[] bytes) {
                throw StoredFailureTest.<RuntimeException>undeclared(new TimeoutException("no key"));
            }
        };
        try (FlowService service = database.service()
                .register(trace, "1", FlowCodec.text())
                .register(other, "1", codec)
                .start()) {
            service.submit("trace", "run-1", "p");
            StoredRun ended = service.await("run-1", Await.BOUND);
            assertThat(ended.state()).isEqualTo(RunState.FAILED);
            assertThat(ended.failure().message()).isEqualTo("q");
            assertThat(calls).hasValue(1);

            service.submit("codec", "run-2", "p");
            assertThat(TestDatabase.runWithProblem(service, "run-2").problem())
                    .contains("cannot decode")
                    .contains("no key");
        }
    }

    @SuppressWarnings("unchecked") // that is the point
    private static <X extends Throwable> X undeclared(Throwable failure) throws X {
        throw (X) failure;
    }

    /** Returns the cause of the exception that the value throws, or null if it throws none. */
    private static String thrown(FlowResult<String> result) {
        try {
            String unused = result.value();
            return null;
        } catch (RuntimeException noValue) {
            return text(noValue.getCause());
        }
    }

    private static String text(Throwable failure) {
        return failure == null ? null : failure.getClass().getName() + ": " + failure.getMessage();
    }

    /** Returns a plan in which nothing depends on who is faster. */
    private static FlowPlan<String, String> plan(int seed) {
        Random random = new Random(seed);
        FlowBuilder<String> f = FlowPlan.define("flow-" + seed, String.class);
        List<Node<String>> nodes = new ArrayList<>();
        int size = 2 + random.nextInt(6);
        for (int i = 0; i < size; i++) {
            String id = "n" + i;
            boolean fails = random.nextInt(3) == 0;
            Node<String> node = f.node(id, c -> {
                if (fails) {
                    throw new IllegalStateException(id + " has failed");
                }
                return id;
            });
            for (Node<String> upstream : nodes) {
                if (random.nextInt(3) == 0) {
                    node.needs(random.nextInt(2) == 0 ? after(upstream) : upstream);
                }
            }
            switch (random.nextInt(8)) {
                case 0 -> node.fallbackValue("fallback");
                case 1 -> node.defaultValue("default");
                case 2 -> node.when(c -> false);
                case 3 -> node.compensate(value -> {});
                default -> {}
            }
            nodes.add(node);
        }
        return f.returning(nodes.getLast());
    }
}
