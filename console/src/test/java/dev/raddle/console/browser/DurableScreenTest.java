package dev.raddle.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.options.ColorScheme;
import dev.raddle.console.DurableConsole;
import dev.raddle.console.LocalDatabase;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.Schedule;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Which runs in a database need a person, and what can this person do? */
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
class DurableScreenTest extends InChromium {

    private static void submitWaiting(FlowService service, String id) {
        service.submit("order", id, "");
        while (!Instant.MAX.equals(service.status(id).orElseThrow().waitsUntil())) {
            Thread.onSpinWait();
        }
    }

    @Test
    void a_stuck_run_is_found_and_run_again_and_a_waiting_one_gets_its_signal() throws Exception {
        LocalDatabase database = new LocalDatabase();
        Program program = start(Program.withControls());
        complaintsAreExpected = true; // the browser reports the first answer, a 401
        try (FlowService service = database.worker().start()) {
            service.submit("booking", "trip-7", "");
            service.await("trip-7");
            submitWaiting(service, "order-17");
            DurableConsole.watch(program.console, "shop", service);
            open(program.console, "#/groups");
            signIn(Program.TOKEN);
            awaitText(find("nav a", "Durable"), "1 stuck");

            find("nav a", "Durable").click();
            awaitText(find("tbody tr").first(), "the compensation of node \"flight\" failed");
            awaitText(find("tbody tr").nth(1), "Waits for a signal.");
            screenshot("durable");
            find("[aria-label='Filter by state'] button", "stuck").click();
            awaitCount(find("tbody tr"), 1);

            row("trip-7").click();
            awaitText(find("h1"), "stuck");
            awaitText(find(".verdict.waiting"), "the airline is closed");
            awaitText(find("main"), "it continues where it was");
            awaitCount(find(".graph .edge"), 1);
            awaitText(find("table").last(), "compensates, then ends as FAILED");
            screenshot("durable-run");
            database.airlineIsOpen.set(true);
            button("Run again…").click();
            find("dialog button", "Run again").click();
            awaitText(find(".notice"), "the run will be run again by the next free worker");
            awaitText(find("h1"), "failed");
            awaitText(find(".graph"), "↶");

            page.keyboard().press("Escape");
            find("[aria-label='Filter by state'] button", "stuck").click();
            row("order-17").click();
            awaitText(row("approved"), "Waits for its signal.");
            button("Signal…").click();
            find("dialog input").fill("Grace");
            page.keyboard().press("Enter");
            awaitText(find("h1"), "succeeded");
            assertThat(service.value("order-17")).isEqualTo("shipped for Grace");

            row("ship").click();
            button("Run again from here…").click();
            awaitText(find("dialog"), "Run “ship” again?");
            find("dialog button", "Run again").click();
            awaitText(find("table").last(), "again: ship");
            find("nav a", "Audit").click();
            awaitText(row("signal"), "shop / approved order-17");
        }
    }

    @Test
    void a_schedule_is_paused_and_resumed() throws Exception {
        LocalDatabase database = new LocalDatabase();
        Program program = start(Program.withControls());
        complaintsAreExpected = true; // the browser reports the first answer, a 401
        try (FlowService service = database.worker().start()) {
            Schedule nightly = Schedule.cron("0 3 * * *", ZoneOffset.UTC);
            service.schedule("nightly", service.plan("order", "2").orElseThrow(), nightly, moment -> null);
            DurableConsole.watch(program.console, "shop", service);
            open(program.console, "#/durable");
            signIn(Program.TOKEN);

            button("Pause…").click();
            awaitText(find("dialog"), "Pause schedule “nightly”?");
            find("dialog button[type=submit]").click();
            awaitText(find(".notice"), "schedule \"nightly\" is paused");
            awaitText(row("nightly"), "paused");

            button("Resume…").click();
            find("dialog button[type=submit]").click();
            awaitText(row("nightly"), "Pause…");
            find("nav a", "Audit").click();
            awaitText(row("pauseSchedule"), "nightly");
        }
    }

    @Test
    void both_screens_are_accessible_and_fit_into_a_narrow_window() throws Exception {
        LocalDatabase database = new LocalDatabase();
        Program program = start(new Program());
        try (FlowService service = database.worker().start()) {
            service.submit("booking", "trip-" + "7".repeat(150), "");
            service.await("trip-" + "7".repeat(150));
            submitWaiting(service, "order-17");
            DurableConsole.watch(program.console, "shop", service);
            DurableConsole.watch(program.console, "mail", service);
            Schedule nightly = Schedule.cron("0 3 * * *", ZoneOffset.UTC);
            service.schedule("nightly", service.plan("order", "2").orElseThrow(), nightly, moment -> null);
            for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
                newPage(400, 800, scheme);
                open(program.console, "#/durable?service=shop");
                awaitText(find("tbody tr").first(), "stuck");
                awaitText(button("mail"), "1 stuck");
                awaitText(find("section tbody tr"), "nightly");
                check("durable-" + scheme);
                row("trip-7").click();
                awaitText(find("table").last(), "compensates");
                row("car").click();
                awaitText(find(".details"), "no car");
                assertThat(find(".details dt").allTextContents())
                        .contains("waited and ran")
                        .doesNotContain("waited", "took");
                assertThat(row("car").locator("th").boundingBox().width).isGreaterThan(100);
                check("durable-run-" + scheme);
            }
        }
    }

    private void check(String screen) {
        screenshot(screen.toLowerCase(Locale.ROOT));
        checkAccessibility(screen);
        assertThat((Integer) page.evaluate("document.documentElement.scrollWidth"))
                .as(screen)
                .isLessThanOrEqualTo(400);
    }

    @Test
    void a_database_that_goes_away_is_shown_with_what_was_known_and_other_screens_go_on() throws Exception {
        LocalDatabase database = new LocalDatabase();
        Program program = start(new Program());
        program.flood();
        try (FlowService service = database.worker().start()) {
            submitWaiting(service, "<b>order</b>\u202e17");
            DurableConsole.watch(program.console, "shop", service);
            open(program.console, "#/durable");
            awaitText(row("order"), "<b>order</b>");

            database.goAway();
            awaitText(find(".verdict.failed"), "The database could not be read since");
            awaitText(find(".verdict.failed"), "What is shown was read before.");
            awaitText(row("order"), "waiting");
            awaitText(find("nav a", "Durable"), "1 down");
            screenshot("durable-away");
            find("nav a", "Groups").click();
            awaitText(row("tenant-a"), "2 of 2");

            database.comeBack();
            find("nav a", "Durable").click();
            awaitCount(find(".verdict.failed"), 0);
            row("order").click();
            awaitText(find("h1"), "<b>order</b>");
            database.execute("DELETE FROM raddle_run");
            awaitText(find("main"), "There is no such run. It may have been removed after its end.");
            page.keyboard().press("Escape");
            awaitText(find("tbody"), "There are no runs.");
        }
    }
}
