package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.Stop;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class JsonDisplayTest {
    private final TestConsole page = TestConsole.file();

    @Test
    void every_event_is_a_line_with_the_documented_fields() throws Exception {
        RunListener display = Displays.json(page.console());
        display.on(new RunEvent.RunStarted(Events.NOW, "checks", 2, 1, null, 3));
        display.on(Events.queued("a", "web"));
        display.on(Events.started("a", "web"));
        display.on(
                new RunEvent.AttemptFailed(Events.NOW, "a", "web", 1, 3, 22, "exit code 22", Duration.ofMillis(200)));
        display.on(Events.failed("a\n", "web", "/o/a.log"));
        display.on(new RunEvent.RunStopping(Events.NOW, Stop.Reason.FAIL_FAST));
        display.on(Events.end(1, 1, 1));

        String time = "\"time\":\"2026-01-31T09:30:00Z\"";
        assertThat(page.text().lines())
                .containsExactly(
                        "{\"event\":\"run-started\"," + time + ",\"name\":\"checks\",\"tasks\":2,\"groups\":1,"
                                + "\"directory\":null,\"succeededBefore\":3}",
                        "{\"event\":\"task-started\"," + time + ",\"id\":\"a\",\"group\":\"web\",\"attempt\":1,"
                                + "\"attempts\":1,\"pid\":4711}",
                        "{\"event\":\"task-retrying\"," + time + ",\"id\":\"a\",\"group\":\"web\",\"attempt\":1,"
                                + "\"attempts\":3,\"exitCode\":22,\"error\":\"exit code 22\",\"pauseMillis\":200}",
                        "{\"event\":\"task-ended\"," + time
                                + ",\"id\":\"a\\n\",\"group\":\"web\",\"command\":\"echo x\","
                                + "\"state\":\"failed\",\"exitCode\":null,\"attempts\":1,\"waitMillis\":5,"
                                + "\"runMillis\":210,\"output\":\"/o/a.log\",\"error\":\"exit code 1\"}",
                        "{\"event\":\"run-stopping\"," + time + ",\"reason\":\"fail-fast\"}",
                        "{\"event\":\"run-ended\"," + time
                                + ",\"exitCode\":1,\"wallMillis\":3210,\"totals\":{\"tasks\":2,"
                                + "\"succeeded\":1,\"failed\":1,\"timedOut\":0,\"rejected\":0,"
                                + "\"cancelled\":0,\"skipped\":0,"
                                + "\"attempts\":4,\"waitMillis\":10,\"runMillis\":400,\"peakRunning\":2}}");
    }

    @Test
    void a_drained_run_has_an_account() throws Exception {
        RunListener display = Displays.json(page.console());
        display.on(new RunEvent.RunStopping(Events.NOW, Stop.Reason.TERMINATED));
        display.on(Events.drained(6, List.of("a", "b\n")));

        assertThat(page.text().lines().toList().getFirst()).endsWith("\"reason\":\"terminated\"}");
        assertThat(page.text())
                .endsWith(",\"account\":{\"accepted\":6,\"completedBefore\":1,\"completedDuring\":2,"
                        + "\"interrupted\":1,\"handedBack\":2,\"stillRunning\":0,"
                        + "\"handedBackIds\":[\"a\",\"b\\n\"]}}\n");
    }
}
