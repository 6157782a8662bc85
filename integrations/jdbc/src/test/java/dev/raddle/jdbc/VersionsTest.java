package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowCodec;
import dev.raddle.processes.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The same runs on each version of PostgreSQL that the build has. */
@Timeout(120)
@EnabledIf(
        value = "dev.raddle.jdbc.ServerKind#isAvailable",
        disabledReason = "no binaries of PostgreSQL for this machine")
class VersionsTest {
    private static final int RUNS = 20;

    static List<ServerKind> kinds() {
        return ServerKind.all();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void runs_end_once_on_this_version(ServerKind kind) throws Exception {
        try (PostgresServer server = kind.start();
                TestPool pool = new TestPool(server.url(), 24)) {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(Transfers.TABLES);
            }
            Transfers transfers = new Transfers(pool, "worker", Duration.ZERO, (node, point) -> {});
            try (FlowService service = FlowService.on(pool)
                    .applySchema()
                    .register(transfers.plan(), "1", FlowCodec.text())
                    .pollInterval(Duration.ofMillis(50))
                    .start()) {
                for (int i = 0; i < RUNS; i++) {
                    service.submit(Transfers.FLOW, "run-" + i, Transfers.parameter(1, 2, 3));
                }
                for (int i = 0; i < RUNS; i++) {
                    FlowServiceTest.hasSucceeded(service.await("run-" + i));
                }
                assertThat(service.rerun("run-0", "receipt")).isTrue();
                assertThat(service.await("run-0").claims()).isEqualTo(2);
                assertThat(service.list(RunFilter.all().in(RunState.SUCCESS))).hasSize(RUNS);
            }
            assertThat(balance(pool, 1)).isEqualTo(Transfers.INITIAL - 3 * RUNS);
            assertThat(balance(pool, 2)).isEqualTo(Transfers.INITIAL + 3 * RUNS);
        }
    }

    private static int balance(TestPool pool, int account) throws Exception {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT balance FROM account WHERE id = " + account)) {
            row.next();
            return row.getInt(1);
        }
    }
}
