package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.processes.Await;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Fleets with a bug on purpose. Each must be noticed by the count outside Redis, or the tests that look for such
 * bugs are blind. The bugs of the script are in a copy that precedes the module on the class path of the workers.
 */
class FleetControlTest {
    private static final String SCRIPT = "fleet.lua";

    @TempDir
    Path patch;

    /** Replaces texts of the script. Each text must be there. */
    private void patchScript(String... replacements) throws IOException {
        try (InputStream in = Objects.requireNonNull(RedisFleet.class.getResourceAsStream(SCRIPT))) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            for (int i = 0; i < replacements.length; i += 2) {
                assertThat(text).contains(replacements[i]);
                text = text.replace(replacements[i], replacements[i + 1]);
            }
            Path file = patch.resolve(RedisFleet.class.getPackageName().replace('.', '/'))
                    .resolve(SCRIPT);
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        }
    }

    private static FleetSetup twoHolders(Duration lease) {
        return FleetSetup.standard(ServerKind.newest(), 1, lease)
                .withWorkers(2, 1)
                .withLimits(List.of(1, 1), 2);
    }

    private static void awaitViolation(TestFleet fleet) {
        Await.until("the violation is noticed", () -> {
            fleet.judge().judgeUntil(System.nanoTime());
            return fleet.judge().violations() > 0;
        });
        System.out.println("noticed: " + fleet.judge().firstViolations().getFirst());
    }

    @Test
    void a_script_that_grants_at_its_limit_is_noticed() throws IOException {
        patchScript(
                "used(c, g) + k > limit(c, g)",
                "used(c, g) + k > limit(c, g) + 1",
                "limit(c, g) - used(c, g)",
                "limit(c, g) - used(c, g) + 1");
        FleetSetup setup = FleetSetup.standard(ServerKind.newest(), 1, Duration.ofSeconds(3))
                .withPatch(patch);
        try (TestFleet fleet = TestFleet.start(setup)) {
            fleet.load();
            awaitViolation(fleet);
        }
    }

    /*
     * A holder that the server has forgotten cannot reassert its permit, because it is cut off. Without quarantine
     * another process gets the permit at once, long before the holder's lease has ended.
     */
    @Test
    void an_emptied_server_without_quarantine_is_noticed() throws IOException {
        patchScript("c.quar = math.max(c.quar, c.ms + c.longest)", "c.quar = c.quar");
        try (TestFleet fleet =
                TestFleet.start(twoHolders(Duration.ofSeconds(40)).withPatch(patch))) {
            fleet.worker(0).send("hold 0");
            fleet.await(0, "entered");
            fleet.proxy(0).refuse();
            fleet.server().kill();
            fleet.server().restartEmpty();
            fleet.worker(1)
                    .send("load 1 1"); // enters again and again, so one moment without processor time excuses nothing
            awaitViolation(fleet);
        }
    }

    /* A holder that is cut off and whose clock stands still never sees the end of its lease, which the server sees. */
    @Test
    void a_client_that_ignores_its_deadline_is_noticed() {
        Duration lease = Duration.ofMillis(500);
        try (TestFleet fleet = TestFleet.start(twoHolders(lease).withFrozenClock())) {
            fleet.worker(0).send("hold 0");
            fleet.await(0, "entered");
            fleet.proxy(0).refuse();
            fleet.worker(1)
                    .send("load 1 1"); // enters again and again, so one moment without processor time excuses nothing
            awaitViolation(fleet);
        }
    }
}
