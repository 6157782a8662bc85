package dev.raddle.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.ColorScheme;
import dev.raddle.console.Incident;
import dev.raddle.console.Incidents;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cause of each incident is read from the screen, and copied from it. */
class IncidentScreensTest extends InChromium {

    private Program stage(Incident incident) throws Exception {
        Program program = start(new Program());
        program.atEnd(Incidents.stage(incident, program.console, program.time));
        program.time.advance(Duration.ofSeconds(40));
        return program;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    HANG      | payments of orders: 33 tasks wait | PaymentClient.readResponse
                    LIMIT     | The limit of mails of orders was changed from 8 to 1 by the program at | tasks wait
                    RATE      | search of orders may start 1 per 20 s | the next one starts in
                    CAP       | 16 groups like req-… hold 16 slots | 25 groups wait for it
                    CAP       | import of req-40 | nothing has started for
                    WEIGHTS   | bulk holds 9 slots (90 %), with the weight 100 | weight 100
                    PRIORITY  | nightly waits with the priority -5 | 12 tasks of higher priority are before it
                    PRIORITY  | nightly waits with the priority -5 | running has held its slot for
                    COST      | yearly needs 4 slots, and 3 are free | slow-audit holds 1 slot
                    LOCK      | 3 groups wait for a lock in Incident$Ledger.post | close-books of audit is inside
                    POOL      | 2 tasks are stuck | They wait for tasks that are queued here
                    FLEET     | shop-2 of fleet orders was not heard of | It holds 3 permits
                    SELF_WAIT | waits for itself | print-page, which is in the same group
                    SELF_WAIT | waits for itself | other holds 1 slot, for
                    SLOWER    | ten minutes ago they took 20 ms | quotes of orders
                    """)
    void the_first_screen_says_the_cause(Incident incident, String part, String other) throws Exception {
        Program program = stage(incident);

        open(program.console, "");

        awaitText(find(".findings"), part);
        awaitText(find(".findings"), other);
        assertThat(find(".finding").first().textContent()).containsPattern("What helps: (a |another |less |nothing )");
        assertThat(find("h1").textContent()).isEqualTo("What is wrong");
        screenshot("wrong-" + incident.name().toLowerCase(Locale.ROOT));
        checkAccessibility(incident.name());
        newPage(400, 800, ColorScheme.DARK);
        open(program.console, "#/wrong");
        awaitText(find(".findings"), part);
        assertThat((Integer) page.evaluate("document.documentElement.scrollWidth"))
                .isLessThanOrEqualTo(400);
    }

    @Test
    void an_incident_is_copied_as_text_with_a_link_that_keeps_the_time() throws Exception {
        Program program = stage(Incident.LIMIT);
        page.context().grantPermissions(List.of("clipboard-read", "clipboard-write"));
        open(program.console, "");
        awaitText(find(".findings"), "was changed from 8 to 1");

        button("Copy all as text").click();

        awaitText(find(".notice"), "Copied.");
        String text = (String) page.evaluate("navigator.clipboard.readText()");
        assertThat(text)
                .contains("“mails” of ")
                .contains("was changed from 8 to 1 by the program at ")
                .contains("    What helps: a higher limit, or fewer tasks.")
                .contains("Changes of the last 10 min:")
                .contains("limit of orders / mails: 8 → 1, by program")
                .contains(" UTC")
                .doesNotContain("undefined", "null", "[object");
        String link =
                text.lines().filter(line -> line.startsWith("http")).findFirst().orElseThrow();
        page.navigate(link);
        awaitText(find("main"), "This link was made at ");
        find(".finding a", "Show the group mails").first().click();
        awaitText(find("h1"), "mails");
        button("Copy for a ticket").click();
        String group = (String) page.evaluate("navigator.clipboard.readText()");
        assertThat(group)
                .contains("Group mails of orders: 1 of 1 running, ")
                .contains("Running:")
                .contains("8 → 1")
                .doesNotContain("undefined", "null", "[object");
    }

    @Test
    void a_row_with_the_focus_is_copied_by_the_keyboard_and_a_stack_by_its_button() throws Exception {
        Program program = start(new Program());
        program.hang();
        page.context().grantPermissions(List.of("clipboard-read", "clipboard-write"));
        open(program.console, "#/groups");
        awaitText(find("tbody"), "payments");
        find("[data-row]", "payments").focus();

        page.keyboard().press("Control+c");

        awaitText(find(".notice"), "The row is copied.");
        assertThat((String) page.evaluate("navigator.clipboard.readText()"))
                .startsWith("Group: payments; full Waits for a slot of its group.\nRunning: 4 of 4\n");
        row("payments").click();
        awaitText(find("h1"), "payments");
        find("section").first().locator("[data-row]").first().click();
        awaitText(find("tr.detail .stack"), "PaymentClient.charge");
        find("tr.detail .stack button.copy").click();
        awaitText(find(".notice"), "Copied.");
        assertThat((String) page.evaluate("navigator.clipboard.readText()")).contains("PaymentClient.charge");
    }

    @Test
    void a_stack_that_is_still_being_taken_cannot_be_copied() throws Exception {
        Program program = start(new Program());
        program.hang();
        List<Route> held = new ArrayList<>();
        page.route("**/api/stack*", held::add);
        open(program.console, "#/groups");
        row("payments").click();
        awaitText(find("h1"), "payments");

        find("section").first().locator("[data-row]").first().click();

        awaitText(find("tr.detail .stack"), "Taking the stack…");
        page.waitForCondition(() -> !held.isEmpty());
        awaitCount(find("tr.detail button.copy"), 0);
        held.forEach(Route::resume);
        awaitText(find("tr.detail pre"), "PaymentClient.charge");
        awaitCount(find("tr.detail button.copy"), 1);
    }

    @Test
    void a_change_is_a_mark_on_the_curves() throws Exception {
        Program program = stage(Incident.LIMIT);
        page.addInitScript("""
                const move = CanvasRenderingContext2D.prototype.moveTo;
                CanvasRenderingContext2D.prototype.moveTo = function (x, y) {
                    if (this.getLineDash().join() === '2,3') document.documentElement.dataset.mark = x;
                    return move.call(this, x, y);
                };""");

        open(program.console, "#/group?executor=orders&key=mails");

        awaitCount(find("html[data-mark]"), 1);
        assertThat(page.evaluate("document.documentElement.dataset.mark / document.querySelector('canvas').width"))
                .asInstanceOf(InstanceOfAssertFactories.DOUBLE)
                .isBetween(0.0, 1.0);
        awaitText(find("figure .changed"), "limit of mails 8 → 1");
    }

    @Test
    void no_curve_covers_what_waits() throws Exception {
        Program program = stage(Incident.CAP);
        page.addInitScript("""
                const line = Path2D.prototype.lineTo, stroke = CanvasRenderingContext2D.prototype.stroke;
                Path2D.prototype.lineTo = function (x, y) {
                    (this.drawn ??= []).push(y);
                    return line.call(this, x, y);
                };
                window.curves = {};
                CanvasRenderingContext2D.prototype.stroke = function (...path) {
                    if (path[0]?.drawn) window.curves[this.strokeStyle] = path[0].drawn;
                    return stroke.apply(this, path);
                };""");

        open(program.console, "");

        page.waitForCondition(
                () -> (Boolean) page.evaluate("Boolean(window.curves['#dc6803'] && window.curves['#12924f'])"));
        assertThat((Boolean)
                        page.evaluate("Math.max(...window.curves['#dc6803']) < Math.min(...window.curves['#12924f'])"))
                .as("26 tasks wait, and 16 run")
                .isTrue();
    }

    @Test
    void a_program_that_watches_nothing_says_how_and_one_without_trouble_says_so() throws Exception {
        Program program = start(new Program());
        open(program.console, "");
        awaitText(find("main"), "nothing is watched yet");
        awaitText(find("main pre"), "console.watch(");
        awaitText(find("footer"), "Times are those of ");
        checkAccessibility("empty");

        program.executor("orders", GroupPolicy.builder());

        awaitText(find(".verdict"), "Nothing waits longer than usual.");
    }

    @Test
    void what_runs_in_one_place_is_one_row_over_all_groups_with_the_lock() throws Exception {
        Program program = stage(Incident.LOCK);
        open(program.console, "#/running");

        Locator waits = row("wait for ReentrantLock@");
        awaitText(waits, "and 5 others");
        awaitText(waits, "and 2 more");
        awaitText(waits, "Ledger.post");
        screenshot("running");
        checkAccessibility("running");
        waits.locator("button.item").click();
        awaitText(find("tr.detail pre"), "ReentrantLock.lock");
        newPage(400, 800, ColorScheme.LIGHT);
        open(program.console, "#/running");
        awaitText(find("tbody"), "ReentrantLock@");
        assertThat((Integer) page.evaluate("document.documentElement.scrollWidth"))
                .isLessThanOrEqualTo(400);
    }

    @Test
    void scopes_that_leak_are_one_row_with_their_number_and_place() throws Exception {
        Program program = stage(Incident.SCOPES);
        open(program.console, "#/scopes");

        Locator row = row("request");
        awaitText(row, "8");
        awaitText(row, "Incident.java:");
        screenshot("scopes-by-name");
        checkAccessibility("scopes");
    }

    @Test
    void the_list_of_runs_says_the_one_reason_and_tells_runs_of_a_plan_apart() throws Exception {
        Program program = stage(Incident.SIGNAL);
        open(program.console, "#/flows");

        awaitText(find("tbody tr").first(), "Node \"approve\" waits for its signal.");
        awaitText(find("tbody tr").first(), "r1");
    }

    @Test
    void weights_and_shares_are_columns_that_sort() throws Exception {
        Program program = stage(Incident.WEIGHTS);
        open(program.console, "#/groups");
        awaitText(find("tbody"), "bulk");

        button("Weight").click();

        awaitText(find("tbody tr").first(), "bulk");
        assertThat(find("th[aria-sort]").getAttribute("aria-sort")).isEqualTo("descending");
        assertThat(page.url()).contains("sort=weight");
        button("Weight").click();
        awaitText(find("th[aria-sort='ascending']"), "Weight");
        awaitText(find("tbody tr").last(), "bulk");
        page.reload();
        awaitText(find("th[aria-sort='ascending']"), "Weight");
        button("Share").click();
        awaitText(find("tbody tr").first(), "%");
        page.evaluate("location.hash = '#/group?executor=" + "orders" + "&key=bulk'");
        awaitText(find(".facts"), "weight");
        awaitText(find(".facts"), "100");
    }

    @Test
    void a_group_without_a_name_and_halves_of_characters_have_screens() throws Exception {
        Program program = start(new Program());
        GroupExecutor executor = program.executor("", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1));
        List<String> keys = List.of("", "a\uD800", "a\uD801", "\uDC00b", "a?");
        for (String key : keys) {
            executor.submit(key, "task of " + key.length() + key.chars().sum(), program::work);
        }
        open(program.console, "#/groups?sort=key");
        awaitCount(find("tbody tr"), keys.size());

        for (int i = 0; i < keys.size(); i++) {
            find("[data-row]").nth(i).click();
            awaitText(find(".verdict"), "Nothing waits.");
            awaitCount(find("section").nth(0).locator("tbody tr"), 1);
            String key = keys.stream().sorted().toList().get(i);
            awaitText(
                    find("section").nth(0),
                    "task of " + key.length() + key.chars().sum());
            find("section").nth(0).locator("[data-row]").click();
            awaitText(find("tr.detail pre"), "Program.work");
            find("nav a", "Groups").click();
            awaitCount(find("tbody tr"), keys.size());
        }
    }

    @Test
    void a_wide_window_is_used() throws Exception {
        Program program = start(new Program());
        program.flood();
        newPage(1920, 1000, ColorScheme.LIGHT);
        open(program.console, "#/groups");
        awaitText(find("tbody"), "tenant-a");

        assertThat(find("table").boundingBox().width).isGreaterThan(1_800);
    }

    @Test
    void lengths_moments_and_numbers_are_in_the_words_of_people() throws Exception {
        Program program = start(new Program());
        open(program.console, "");
        awaitText(find("h1"), "What is wrong");

        assertThat(page.evaluate("""
                async () => {
                    const words = await import('/page/words.js');
                    return [words.length(147_000), words.length(97_200_000),
                        words.sentence('waits for 147 s, 12345 before it'),
                        words.sentence('node "7777 of x" waits for a slot, next start in 90000 ms'),
                        words.isolated('a\\u202Eb\\u2069'), words.percent(0.004), words.percent(0.75),
                        /^1970-01-01 \\d\\d:\\d\\d:\\d\\d UTC/.test(words.stamp(43_200_000))].join(' | ');
                }"""))
                .isEqualTo("2 min 27 s | 1 d 3 h | Waits for 2 min 27 s, 12,345 before it."
                        + " | Node \"7777 of x\" waits for a slot, next start in 1 min 30 s."
                        + " | \u2068ab\u2069 | under 1 % | 75 % | true");
    }

    @Test
    void a_time_without_samples_is_a_gap_in_the_curves() throws Exception {
        Program program = start(new Program());
        open(program.console, "");
        awaitText(find("h1"), "What is wrong");

        assertThat(page.evaluate("""
                async () => {
                    const { dataOf } = await import('/page/plot.js');
                    return JSON.stringify(dataOf({ seconds: [1000, 2000, 60000, 61000],
                        waiting: [1, 2, 3, 4], running: [1, 1, 1, 1], starts: [5, 5, 5, 5] }));
                }"""))
                .isEqualTo("[[1,2,59.999,60,61],[1,2,null,3,4],[1,1,null,1,1],[5,5,null,null,5]]");
    }

    @Test
    void a_task_that_needs_more_slots_than_are_free_says_so() throws Exception {
        Program program = stage(Incident.COST);
        open(program.console, "#/groups");

        awaitText(find("tbody"), "The next one needs more slots than the 3 that are free.");
    }
}
