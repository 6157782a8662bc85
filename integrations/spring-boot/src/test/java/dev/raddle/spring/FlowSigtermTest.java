package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunFilter;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredRun;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Ends a real process that executes runs: they end, since the group that they use is shut down after them. */
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
class FlowSigtermTest {
    @RegisterExtension
    final LocalPostgres database = new LocalPostgres();

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void after_a_sigterm_the_runs_of_a_process_end_with_what_they_still_do_in_a_group() throws Exception {
        Process server = start();
        List<String> lines = new ArrayList<>();
        try (BufferedReader output = server.inputReader()) {
            readUntilAllHaveBegun(output, lines);
            server.toHandle().destroy(); // SIGTERM; that of the process would close its output, too
            output.lines().forEach(lines::add);
            assertThat(server.waitFor()).isEqualTo(143);
        } finally {
            server.destroyForcibly();
        }

        assertThat(lines).contains("sent order-0", "sent order-1", "sent order-2", "sent order-3", "sent order-4");
        try (FlowService service = FlowService.on(database.source()).start()) {
            assertThat(service.list(RunFilter.all()))
                    .hasSize(FlowServer.RUNS)
                    .extracting(StoredRun::state)
                    .containsOnly(RunState.SUCCESS);
        }
    }

    private static void readUntilAllHaveBegun(BufferedReader output, List<String> lines) throws IOException {
        int begun = 0;
        for (String line; begun < FlowServer.RUNS && (line = output.readLine()) != null; ) {
            lines.add(line);
            begun += line.startsWith("begun ") ? 1 : 0;
        }
        assertThat(begun).as(String.join("\n", lines)).isEqualTo(FlowServer.RUNS);
    }

    private Process start() throws IOException {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        return new ProcessBuilder(
                        java.toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FlowServer.class.getName(),
                        "--spring.main.web-application-type=none",
                        "--spring.main.keep-alive=true",
                        "--spring.datasource.url=" + database.url(),
                        "--raddle.redis.enabled=false",
                        "--raddle.flows.apply-schema=true",
                        "--raddle.groups.mail.max-concurrency=1",
                        "--raddle.shutdown.timeout=2m")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
