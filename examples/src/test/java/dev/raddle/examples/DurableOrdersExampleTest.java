package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Runs the example as real processes with a real database, one of which is killed. */
@Timeout(200)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
class DurableOrdersExampleTest {

    @Test
    void every_order_ends_and_each_customer_is_charged_once_although_a_worker_is_killed() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.builder().start()) {
            ProcessBuilder builder = new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty("java.class.path"),
                    DurableOrdersExample.class.getName(),
                    server.getJdbcUrl("postgres", "postgres"));
            builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
            Raddle.Ended ended = new Raddle.Run(builder.start()).end();

            assertThat(ended.exitCode()).as(ended.out() + ended.err()).isZero();
            assertThat(ended.out())
                    .contains("worker-1 is killed")
                    .contains("order-1: SUCCESS")
                    .contains("order-7: FAILED")
                    .contains("claimed 2 times")
                    .contains("charged: 20, refunded: 2, in stock: 82");
        }
    }
}
