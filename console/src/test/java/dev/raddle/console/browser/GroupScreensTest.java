package dev.raddle.console.browser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.microsoft.playwright.Locator;
import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupStats;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.Rate;
import dev.raddle.task.TaskSpec;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which group is stuck, on what, for how long, and what can be done? */
class GroupScreensTest extends InChromium {

    @Test
    void the_group_that_has_waited_longest_is_first_and_says_why() throws Exception {
        Program program = start(new Program());
        program.flood();

        open(program.console, "#/groups");

        Locator first = find("tbody tr").first();
        awaitText(first, "tenant-a");
        awaitText(first, "full Waits for a slot of its group.");
        awaitText(first, "2 of 2");
        awaitText(first, "2,000");
        awaitText(first, "39 s");
        awaitText(find("tbody tr").nth(1), "tenant-d");
        awaitCount(find("tbody tr"), 5);
        awaitText(find(".executor"), "imports: 8 running, 2,001 waiting in 5 groups, 8 of 8 slots of the cap");
        awaitCount(first.locator(".spark polyline"), 1);
        screenshot("groups");
        assertThat(page.title()).startsWith("2,001 waiting · Groups");
    }

    @Test
    void the_small_curves_have_one_scale_and_one_place() throws Exception {
        Program program = start(new Program());
        program.flood();

        open(program.console, "#/groups");

        awaitCount(find(".spark"), 2);
        Locator flooded = row("tenant-a").locator(".spark");
        Locator calm = row("tenant-d").locator(".spark");
        assertThat(flooded.locator("polyline").getAttribute("points")).endsWith(",1.0");
        assertThat(calm.locator("polyline").getAttribute("points")).endsWith(",17.0");
        assertThat(calm.boundingBox().x).isEqualTo(flooded.boundingBox().x);
    }

    @Test
    void groups_are_sorted_filtered_and_paged_by_the_server() throws Exception {
        Program program = start(new Program());
        GroupExecutor executor = program.executor("many", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1));
        for (int i = 100; i < 220; i++) {
            program.submit(executor, "tenant-" + i, "task", i == 150 ? 9 : 1);
        }
        open(program.console, "#/groups?sort=key");
        awaitText(find("[role=status].dim"), "120 groups");
        awaitCount(find("tbody tr"), 50);
        awaitText(find("tbody tr").first(), "tenant-100");

        button("Next").click();
        awaitText(find("tbody tr").first(), "tenant-150");
        button("Waiting").click();
        awaitText(find("tbody tr").first(), "tenant-150");
        awaitText(find(".pages"), "1 of 3");
        assertThat(find("th[aria-sort]").textContent()).startsWith("Waiting");

        find("input[type=search]").fill("nt-21");
        awaitCount(find("tbody tr"), 10);
        assertThat(page.url()).contains("filter=nt-21");
        button("only full").click();
        awaitText(find("tbody"), "tenant-210");

        page.reload();
        awaitCount(find("tbody tr"), 10);
        assertThat(find("input[type=search]").inputValue()).isEqualTo("nt-21");
    }

    @Test
    void a_group_shows_its_holders_and_what_they_have_in_common() throws Exception {
        Program program = start(new Program());
        program.hang();
        open(program.console, "#/groups");

        row("payments").click();

        awaitText(find(".verdict.stuck"), "stuck Group payments of orders: 33 tasks wait, the oldest for 40 s ");
        awaitText(find(".verdict"), "charge-1 has held its slot for 40 s");
        awaitText(find("nav a", "What is wrong"), "1 · stuck");
        Locator running = find("section").nth(0);
        awaitCount(running.locator("tbody tr"), 4);
        awaitText(running.locator("tbody tr").first(), "charge-1");
        awaitCount(find("section").nth(1).locator("tbody tr"), 33);
        button("Compare the stacks of all 4").click();
        awaitText(find(".stack"), "4 tasks are here");
        awaitText(find(".stack pre"), "PaymentClient.readResponse");
        assertThat(find(".stack").count()).isEqualTo(1);
        awaitText(find("section").nth(0), "taken at ");

        button("charge-2").click();
        awaitText(find("tr.detail pre"), "PaymentClient.readResponse");
        button("charge-2").click();
        awaitCount(find("tr.detail"), 0);
        awaitCount(find(".uplot canvas"), 1);
        screenshot("group");
    }

    @Test
    void what_waits_has_its_priority_and_its_cost_if_one_is_not_that_of_all() throws Exception {
        Program program = start(new Program());
        GroupExecutor executor =
                program.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2));
        program.submit(executor, "plain", "task", 3);
        program.submit(executor, "mixed", "task", 3);
        open(program.console, "#/group?executor=orders&key=plain");
        Locator heads = find("section").nth(1).locator("thead th");
        awaitCount(heads, 4);

        open(program.console, "#/group?executor=orders&key=mixed");
        awaitCount(heads, 4);
        executor.submit(
                "mixed", TaskSpec.named("urgent", program::work).priority(7).cost(2));

        awaitCount(heads, 6);
        assertThat(heads.allInnerTexts()).containsSubsequence("Before it", "Priority", "Needs slots", "Why");
        awaitText(row("urgent"), "7");
        assertThat(row("urgent").locator("td").allInnerTexts()).contains("7", "2");
        assertThat(row("task-3").locator("td").allInnerTexts()).containsSubsequence("1", "0", "1");
    }

    @Test
    void a_group_that_has_gone_says_so_and_comes_back_with_its_next_task() throws Exception {
        Program program = start(new Program());
        GroupExecutor executor = program.executor("orders", GroupPolicy.builder());
        open(program.console, "#/group?executor=orders&key=later");
        awaitText(find("main"), "The group has no task now.");

        program.submit(executor, "later", "task", 1);

        awaitText(find(".verdict"), "Nothing waits. 1 of 1 slots are taken.");
    }

    @Test
    void without_controls_nothing_can_be_changed() throws Exception {
        Program program = start(new Program());
        program.hang();

        open(program.console, "#/group?executor=orders&key=payments");

        awaitCount(find("section").nth(0).locator("tbody tr"), 4);
        assertThat(find("[aria-label=Controls]").count()).isZero();
        assertThat(button("Cancel").count()).isZero();
        assertThat(find("nav").first().textContent()).doesNotContain("Audit");
    }

    @Test
    void a_change_needs_the_token_and_a_confirmation_and_is_in_the_audit() throws Exception {
        Program program = start(Program.withControls());
        GroupExecutor executor = program.hang();
        complaintsAreExpected = true; // the browser reports answers of 401
        open(program.console, "#/group?executor=orders&key=payments");
        signIn("not-the-right-token");
        awaitText(find("[role=alert]"), "this is not the token");
        signIn(Program.TOKEN);

        button("Set limit…").click();
        awaitText(find("dialog"), "Set the limit of group “payments”");
        screenshot("dialog");
        page.keyboard().press("Escape");
        awaitCount(find("dialog"), 0);
        assertThat(executor.groupStats("payments").orElseThrow().maxConcurrency())
                .isEqualTo(4);

        button("Set limit…").click();
        find("dialog input").fill("6");
        page.keyboard().press("Enter");

        awaitText(find(".facts"), "6 of 6");
        find(".notice p").waitFor();
        button("Pause…").click();
        find("dialog button[type=submit]").click();
        awaitText(find("main"), "Resume…");
        assertThat(executor.groupStats("payments").orElseThrow().paused()).isTrue();
        find("nav a", "Audit").click();
        awaitCount(find("tbody tr"), 2);
        awaitText(find("tbody tr").nth(1), "payments");
        awaitText(find("tbody tr").nth(1), "6");
        screenshot("audit");
        assertThat(complaints).allMatch(complaint -> complaint.contains("401"));
    }

    @Test
    void each_control_of_a_group_has_its_effect_and_its_line_in_the_audit() throws Exception {
        Program program = start(Program.withControls());
        GroupExecutor executor = program.hang();
        TaskHandle<String> last = executor.submit("payments", "charge-38", program::work);
        complaintsAreExpected = true; // the browser reports the first answer, a 401
        open(program.console, "#/group?executor=orders&key=payments");
        signIn(Program.TOKEN);

        confirm("Pause…", "Pause group “payments”?", null);
        awaitText(find(".verdict"), "Group payments of orders was paused by 127.0.0.1 in the console at ");
        assertThat(stats(executor).paused()).isTrue();
        confirm("Resume…", "Resume group “payments”?", null);
        awaitText(find("main"), "Pause…");
        assertThat(stats(executor).paused()).isFalse();
        confirm("Hold…", "Hold group “payments” for a time?", "90");
        awaitText(find(".verdict"), "The hold ends in 1 min ");
        assertThat(stats(executor).holdLeft()).isEqualTo(Duration.ofSeconds(90));
        confirm("Set rate…", "Set the rate of group “payments”", "7");
        awaitText(find(".facts"), "7 per second");
        assertThat(stats(executor).rate()).isEqualTo(Rate.perSecond(7));
        confirm("Set rate…", "Set the rate of group “payments”", "");
        awaitText(find(".notice"), "group \"payments\" has no rate");
        assertThat(stats(executor).rate()).isNull();
        row("charge-1")
                .locator("button", new Locator.LocatorOptions().setHasText("Cancel"))
                .click();
        confirm(null, "Cancel task “charge-1” of group “payments”?", null);
        awaitCount(find("section").nth(0).locator("tbody tr"), 3);
        confirm("Evict…", "Its waiting tasks are rejected, 34 now.", null);
        awaitText(find(".notice"), "group \"payments\" is evicted");
        assertThatThrownBy(last::join).hasMessageContaining("the group was evicted");

        find("nav a", "Audit").click();
        awaitCount(find("tbody tr"), 7);
        assertThat(find("tbody tr").all().stream().map(GroupScreensTest::line))
                .allMatch(line -> line.contains("orders / payments"))
                .extracting(line -> line.replace("orders / payments", ""))
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("evict||group \"payments\" is evicted"),
                        line -> assertThat(line).matches("cancelTask \\w+\\|\\|task \"charge-1\" is cancelled"),
                        line -> assertThat(line).isEqualTo("setRate||group \"payments\" has no rate"),
                        line -> assertThat(line)
                                .isEqualTo("setRate|no rate → 7/1000|group \"payments\" has the rate of 7 per second"),
                        line -> assertThat(line)
                                .isEqualTo("hold|not on hold → 90,000|group \"payments\" is on hold for 90000 ms"),
                        line -> assertThat(line).isEqualTo("resume||group \"payments\" is resumed"),
                        line -> assertThat(line).isEqualTo("pause||group \"payments\" is paused"));
    }

    /** Returns the action, the value and the outcome of a row of the audit list. */
    private static String line(Locator row) {
        List<String> cells = row.locator("th, td").allTextContents();
        return cells.get(0) + "|" + cells.get(1) + "|" + cells.get(4);
    }

    /** Clicks a button, and confirms the dialog that it opens. */
    private void confirm(@Nullable String button, String question, @Nullable String value) {
        if (button != null) {
            button(button).click();
        }
        awaitText(find("dialog"), question);
        if (value != null) {
            find("dialog input").fill(value);
        }
        find("dialog button[type=submit]").click();
        awaitCount(find("dialog"), 0);
    }

    private static GroupStats stats(GroupExecutor executor) {
        return executor.groupStats("payments").orElseThrow();
    }

    @Test
    void the_breaker_of_a_group_is_opened_and_reset() throws Exception {
        Program program = start(Program.withControls());
        GroupExecutor executor =
                program.executor("orders", GroupPolicy.builder().breaker(key -> CircuitBreaker.failureRate(0.5)));
        program.submit(executor, "payments", "charge", 1);
        complaintsAreExpected = true; // the browser reports the first answer, a 401
        open(program.console, "#/group?executor=orders&key=payments");
        signIn(Program.TOKEN);

        confirm("Open breaker…", "Open the breaker of group “payments” for a time?", "90");
        awaitText(find("main"), "Reset breaker…");
        assertThat(stats(executor).breaker().nextProbe()).isEqualTo(Duration.ofSeconds(90));
        open(program.console, "#/groups?stopped=1");
        awaitText(row("payments"), "stopped by its breaker");
        row("payments").click();
        confirm("Reset breaker…", "It is closed, and forgets how tasks have ended.", null);
        awaitText(find("main"), "Open breaker…");
    }

    @Test
    void a_waiting_task_is_cancelled_from_its_row() throws Exception {
        Program program = start(Program.withControls());
        program.hang();
        complaintsAreExpected = true; // the browser reports the first answer, a 401
        open(program.console, "#/group?executor=orders&key=payments");
        signIn(Program.TOKEN);

        row("charge-7")
                .locator("button", new Locator.LocatorOptions().setHasText("Cancel"))
                .click();
        awaitText(find("dialog"), "Cancel task “charge-7” of group “payments”?");
        find("dialog button[type=submit]").click();

        awaitText(find(".notice"), "task \"charge-7\" is cancelled");
        awaitText(find(".verdict"), "32 tasks wait");
        awaitCount(find("tbody tr", "charge-7"), 0);
        awaitFocus(find("[data-row]", "charge-8").first());
    }

    @Test
    void a_paused_group_and_one_on_hold_say_so() throws Exception {
        Program program = start(new Program());
        GroupExecutor executor =
                program.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2));
        executor.pauseGroup("paused");
        executor.holdGroup("held", Duration.ofMinutes(3));
        program.submit(executor, "paused", "task", 1);
        program.submit(executor, "held", "task", 1);

        open(program.console, "#/groups");

        awaitText(row("Waits for the resumption"), "paused");
        awaitText(row("Waits for the end of a hold"), "on hold");
        row("Waits for the end of a hold").click();
        assertThat(find(".verdict").textContent()).containsPattern("The hold ends in \\d min");
    }
}
