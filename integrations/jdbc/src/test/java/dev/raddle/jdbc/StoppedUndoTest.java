package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowCodec;
import dev.raddle.processes.Await;
import dev.raddle.processes.WorkerJvm;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(200)
class StoppedUndoTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    @Test
    void a_worker_that_is_stopped_in_a_compensation_undoes_nothing_more_when_it_wakes_up() throws Exception {
        database.execute(UndoWorker.TABLE);
        try (FlowService client = database.service()
                .register(UndoWorker.plan(database.pool(), "client", false), "1", FlowCodec.text())
                .submitOnly()
                .start()) {
            WorkerJvm stopped = start("stopped", true).awaitReady();
            client.submit(UndoWorker.FLOW, "run-1", "p");
            stopped.await("paused");
            stopped.stop();
            WorkerJvm other = start("other", false).awaitReady();
            StoredRun run = client.await("run-1", Await.BOUND);
            stopped.proceed();
            stopped.exit(); // when its compensation has ended
            other.exit();

            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(run.failure().message()).isEqualTo("no car");
            assertThat(client.status("run-1")).contains(run);
            assertThat(database.query("SELECT string_agg(worker || ' ' || node, ', ' ORDER BY worker, node) FROM undo"))
                    .isEqualTo("other flight, other hotel, stopped hotel");
            assertThat(client.entries("run-1"))
                    .filteredOn(entry -> List.of("COMPENSATED", "ENDED").contains(entry.kind()))
                    .extracting(entry -> entry.kind() + " " + entry.node())
                    .containsExactly("COMPENSATED hotel", "COMPENSATED flight", "ENDED null");
        }
    }

    private WorkerJvm start(String name, boolean pauses) {
        return WorkerJvm.start(name, UndoWorker.class, List.of(database.url(), name, Boolean.toString(pauses)));
    }
}
