package dev.raddle.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.options.ColorScheme;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The screens of flows, failures, pools and scopes. */
class OtherScreensTest extends InChromium {

    @Test
    void a_run_shows_its_graph_with_states_as_they_change_and_what_the_others_wait_for() throws Exception {
        Program program = start(new Program());
        FlowRun<String> run = program.flow();
        open(program.console, "#/flows");
        awaitText(row("checkout"), "running");

        row("checkout").click();

        awaitCount(find(".graph .node"), 9);
        awaitCount(find(".graph .edge"), 8);
        awaitCount(find(".graph .node.s-succeeded"), 3);
        assertThat(find(".graph [data-node=promo]").getAttribute("class")).contains("s-failed");
        awaitText(find(".verdict.failed"), "promo 17 has expired");
        awaitText(row("receipt"), "Waits for total, approved");
        screenshot("flow");

        run.signal("approved", "Grace");
        awaitCount(find(".graph .node.s-succeeded"), 4);
        awaitText(row("receipt"), "Waits for total");

        find("[aria-label='Filter by state'] button", "failed").click();
        awaitCount(find("tbody tr"), 1);
        assertThat(find(".graph .node.faint").count()).isEqualTo(8);
        find(".graph [data-node=receipt]").click();
        awaitText(find(".details"), "needs");
        awaitText(find(".details"), "total, approved, audit");
    }

    @Test
    void a_run_gets_its_signal_and_is_cancelled_on_its_page() throws Exception {
        Program program = start(Program.withControls());
        FlowRun<String> run = program.flow();
        complaintsAreExpected = true; // the browser reports the first answer, a 401
        open(program.console, "#/flows");
        signIn(Program.TOKEN);
        row("checkout").click();

        button("Signal…").click();
        find("dialog input").fill("Grace");
        page.keyboard().press("Enter");
        awaitCount(find(".graph .node.s-succeeded"), 4);
        awaitText(find(".notice"), "node \"approved\" has its signal");

        button("Cancel the run…").click();
        find("dialog input").press("Enter");
        awaitText(find("h1"), "cancelled");
        assertThat(run.isDone()).isTrue();
        find("nav a", "Audit").click();
        awaitText(find("tbody tr").nth(0), "cancelRun");
        awaitText(find("tbody tr").nth(0), "cancelled in the console");
        awaitText(find("tbody tr").nth(0), "the run is cancelled");
        awaitText(find("tbody tr").nth(1), "signal");
        awaitText(find("tbody tr").nth(1), "Grace");
    }

    @Test
    void a_run_that_has_ended_keeps_its_graph_and_can_be_found_among_the_unsuccessful() throws Exception {
        Program program = start(new Program());
        FlowRun<String> run = program.flow();
        open(program.console, "#/flows");
        awaitText(row("checkout"), "running");

        run.cancel("the test ends it");
        button("only unsuccessful").click();

        awaitText(row("checkout"), "cancelled");
        row("checkout").click();
        awaitCount(find(".graph .node"), 9);
        awaitText(find("h1"), "cancelled");
    }

    @Test
    void a_flow_of_eight_hundred_nodes_is_a_grid() throws Exception {
        Program program = start(new Program());
        FlowBuilder<Void> f = FlowPlan.define("wide");
        List<Node<?>> nodes = new ArrayList<>();
        for (int i = 0; i < 800; i++) {
            nodes.add(f.node("n" + i, () -> "done"));
        }
        try (var run = program.console.startFlow(f.returning(nodes), null, RunOptions.defaults())) {
            run.join();
            open(program.console, "#/flows");
            row("wide").click();

            awaitCount(find(".graph .node.s-succeeded"), 800);
            awaitCount(find("tbody tr"), 200);
            awaitText(find("main"), "1 to 200 of 800");
            screenshot("flow-800");
        }
    }

    @Test
    void failures_are_counted_by_kind_with_their_owners_and_a_stack() throws Exception {
        Program program = start(new Program());
        GroupExecutor executor = program.executor("orders", GroupPolicy.builder());
        program.failures(executor);
        open(program.console, "#/failures");

        awaitCount(find("tbody tr"), 2);
        awaitText(row("mailbox"), "9");
        awaitText(row("mailbox"), "IllegalStateException");
        row("mailbox").locator("button").click();
        awaitText(find("tr.detail"), "java.lang.IllegalStateException, the first of 9");
        awaitText(find("tr.detail pre"), "Program");
        screenshot("failures");
        find("input[type=search]").fill("index");
        awaitCount(find("tbody tr.open, tbody tr:not(.detail)"), 1);
        awaitText(find("tbody"), "the index is read-only");
    }

    @Test
    void a_pool_that_does_not_drain_shows_the_stuck_tasks_and_where_they_are() throws Exception {
        Program program = start(new Program());
        program.drain();
        open(program.console, "#/pools");

        awaitText(find(".card"), "It is draining, for at least ");
        awaitText(find(".card"), "2 tasks are stuck.");
        awaitText(find(".card"), "2 of 2");
        Locator stuck = find(".stack");
        awaitCount(stuck, 1);
        awaitText(stuck, "2 tasks with one stack");
        awaitText(stuck, "export-1 has run for ");
        awaitText(stuck, "export-2 has run for ");
        awaitText(stuck.first().locator("pre"), "Export.writeRows");
        awaitText(find("nav a[aria-current]"), "2 stuck");
        screenshot("pools");
    }

    @Test
    void scopes_are_a_tree_with_the_stacks_of_their_tasks() throws Exception {
        Program program = start(new Program());
        program.scopes();
        open(program.console, "#/scopes");

        Locator tree = find(".tree > li");
        awaitText(tree, "page");
        awaitText(find("summary:has(strong)", "prices"), "2 running tasks");
        awaitText(tree, "far");
        find("summary", "far").last().click();
        awaitText(tree.locator("details[open] pre").last(), "Program.work");
        screenshot("scopes");
    }

    @Test
    void scopes_that_are_nested_deeply_are_all_shown_in_a_window_of_400_pixels_too() throws Exception {
        Program program = start(new Program());
        newPage(400, 800, ColorScheme.DARK);
        program.nestedScopes(400);

        open(program.console, "#/scopes");

        awaitCount(find("summary:has(strong)"), 400);
        awaitText(find("summary:has(strong)", "level-400"), "at depth 399, 1 running task");
        awaitText(find("summary", "innermost").last(), "running for ");
        assertThat((Integer) page.evaluate("document.documentElement.scrollWidth"))
                .isLessThanOrEqualTo(400);
        screenshot("narrow-scopes-nested");
        find("summary", "level-12").first().click();
        awaitCount(find("summary:has(strong):visible"), 12);
    }
}
