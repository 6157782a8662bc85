package dev.raddle.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.options.BoundingBox;
import com.microsoft.playwright.options.ColorScheme;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What holds for all screens: the keyboard, contrast, narrow windows, hostile names, a restart of the program. */
class PageTest extends InChromium {

    private static final List<String> HOSTILE = List.of(
            "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
            "\u202Egnirts lautcadi a \u0627\u0644\u0645\u062F\u0641\u0648\u0639\u0627\u062A",
            "long-" + "0123456789".repeat(1_024),
            "🧨🧨 tenant 👩‍🚀",
            "__proto__",
            "constructor",
            "a&executor=b#/pools?x=%00+%",
            "\"quoted\" 'and'\nin two lines\u0000");

    /** Starts everything that has a screen. */
    private static Program everything() throws Exception {
        Program program = Program.withControls();
        GroupExecutor executor = program.hang();
        program.flood();
        program.failures(executor);
        program.fleet();
        program.flow();
        program.drain();
        program.scopes();
        return program;
    }

    /** Shows each screen and kind of dialog in turn, with what can be opened on it opened. */
    private void onEachScreen(Program program, OnScreen action) throws Exception {
        complaintsAreExpected = true; // the browser reports what is refused
        open(program.console, "#/groups");
        signIn("not-the-right-token");
        awaitText(find("[role=alert]"), "this is not the token");
        action.on("login");
        signIn(Program.TOKEN);
        awaitText(find("tbody"), "tenant-a");
        action.on("groups");
        row("payments").click();
        button("Compare the stacks").click();
        awaitText(find(".stack"), "4 tasks are here");
        find(".uplot canvas").waitFor();
        action.on("group");
        button("Set limit…").click();
        find("dialog input").fill("99999999999");
        action.on("dialog-field");
        page.keyboard().press("Enter");
        awaitText(find("dialog [role=alert]"), "the value must be a whole number from 0 to ");
        action.on("dialog-refused");
        find("dialog input").fill("5");
        page.keyboard().press("Enter");
        find(".notice p").waitFor();
        action.on("notice");
        button("Evict…").click();
        awaitText(find("dialog"), "Its waiting tasks are rejected");
        action.on("dialog-evict");
        page.keyboard().press("Escape");
        open(program.console, "#/flows");
        awaitText(find("tbody"), "checkout");
        action.on("flows");
        row("checkout").click();
        find(".graph [data-node=receipt]").click();
        awaitText(find(".details"), "total, approved, audit");
        action.on("flow");
        button("Signal…").click();
        awaitText(find("dialog"), "Signal “approved”?");
        action.on("dialog-signal");
        page.keyboard().press("Escape");
        open(program.console, "#/failures");
        row("mailbox").locator("button").click();
        find("tr.detail pre").waitFor();
        action.on("failures");
        open(program.console, "#/pools");
        awaitText(find(".card"), "2 tasks are stuck.");
        action.on("pools");
        open(program.console, "#/scopes");
        awaitText(find(".tree"), "prices");
        action.on("scopes");
        open(program.console, "#/fleet");
        awaitText(row("payments"), "shop-1 2 for ");
        action.on("fleet");
        open(program.console, "#/audit");
        awaitText(find("tbody tr").last().locator(".failed"), "refused: ");
        action.on("audit");
        assertThat(complaints).allMatch(complaint -> complaint.contains("status of 40"));
    }

    @FunctionalInterface
    private interface OnScreen {
        void on(String name) throws Exception;
    }

    @ParameterizedTest
    @EnumSource(names = {"LIGHT", "DARK"})
    void no_screen_has_a_serious_fault_of_accessibility(ColorScheme scheme) throws Exception {
        Program program = start(everything());
        newPage(1280, 800, scheme);
        onEachScreen(program, screen -> {
            screenshot(scheme.name().toLowerCase(Locale.ROOT) + "-" + screen);
            checkAccessibility(screen);
        });
    }

    @Test
    void no_screen_is_wider_than_a_window_of_400_pixels() throws Exception {
        Program program = start(everything());
        newPage(400, 800, ColorScheme.LIGHT);
        onEachScreen(program, screen -> {
            screenshot("narrow-" + screen);
            Object width = page.evaluate("""
                    Math.max(...[document.documentElement, ...document.querySelectorAll('dialog, .notice p')]
                            .map(each => Math.ceil(each.getBoundingClientRect().left) + each.scrollWidth))""");
            assertThat((Integer) width).as(screen).isLessThanOrEqualTo(400);
        });
    }

    @Test
    void a_click_is_met_if_the_page_changes_between_the_press_and_the_release() throws Exception {
        Program program = start(new Program());
        program.flood();
        open(program.console, "#/groups");
        awaitText(find("tbody"), "tenant-a");
        BoundingBox aim = find("[data-row]", "tenant-b").first().boundingBox();

        page.mouse().move(aim.x + 5, aim.y + 2);
        page.mouse().down();
        program.submit(program.executor("another", GroupPolicy.builder()), "orders", "task", 1);
        page.evaluate("""
                async () => {
                    const { effect } = await import('/page/html.js'), { shown } = await import('/page/stream.js');
                    await new Promise(done => effect(() => { if (shown.value.data.executors.another) done(); }));
                    await new Promise(requestAnimationFrame); // it would have been drawn
                }""");
        page.mouse().up();

        awaitText(find("h1"), "tenant-b");
        find("nav a", "Groups").click();
        awaitText(find(".executor").first(), "another");
    }

    @Test
    void every_group_is_reached_and_left_by_the_keyboard_alone() throws Exception {
        Program program = start(new Program());
        program.hang();
        program.flood();
        open(program.console, "#/groups");
        awaitText(find("tbody"), "tenant-a");

        focusByTab("[data-row]");
        for (String key : List.of("ArrowDown", "ArrowDown", "ArrowUp", "End", "Home", "ArrowDown")) {
            page.keyboard().press(key);
        }
        String second = find("[data-row]:focus").textContent();
        assertThat(find("tbody tr").nth(1).textContent()).startsWith(second);
        page.keyboard().press("Enter");
        awaitText(find("h1"), second);
        awaitFocus(find("h1"));
        page.keyboard().press("Escape");

        awaitFocus(find("[data-row]", second));
        assertThat(find("h1").textContent()).isEqualTo("Groups");
        focusByTab("nav a[href='#/pools']");
        page.keyboard().press("Enter");
        awaitText(find("h1"), "Pools");
    }

    @Test
    void the_stack_of_a_holder_is_opened_and_the_graph_is_walked_by_the_keyboard() throws Exception {
        Program program = start(new Program());
        program.hang();
        program.flow();
        open(program.console, "#/group?executor=orders&key=payments");
        awaitText(find("section").first(), "charge-1");
        focusByTab("[data-row]");
        page.keyboard().press("ArrowDown");
        page.keyboard().press("Enter");
        awaitText(find("tr.detail pre"), "PaymentClient.charge");

        open(program.console, "#/flows");
        awaitText(find("tbody"), "checkout");
        focusByTab("[data-row]");
        page.keyboard().press("Enter");
        find(".graph .node").first().waitFor();
        focusByTab(".graph .node");
        page.keyboard().press("ArrowRight");
        page.keyboard().press("Enter");
        awaitText(find(".details"), "needed by");
        page.keyboard().press("Escape");
        awaitText(find("h1"), "Flows");
    }

    private void focusByTab(String selector) {
        for (int i = 0; i < 60; i++) {
            page.keyboard().press("Tab");
            if ((Boolean) page.evaluate("selector => document.activeElement.matches(selector)", selector)) {
                return;
            }
        }
        throw new AssertionError(selector + " is not in the order of tabs");
    }

    @Test
    void names_from_the_program_are_text_whatever_they_contain() throws Exception {
        Program program = start(new Program());
        GroupExecutor executor =
                program.executor("<b>executor</b>", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1));
        for (String name : HOSTILE) {
            executor.submit(name, name, program::work);
            executor.submit(name, name, program::work);
        }
        open(program.console, "#/groups?sort=key");
        awaitCount(find("tbody tr"), HOSTILE.size());
        screenshot("hostile");
        assertThat((Integer) page.evaluate("document.documentElement.scrollWidth"))
                .isLessThanOrEqualTo(1280);

        for (int i = 0; i < HOSTILE.size(); i++) {
            find("[data-row]").nth(i).click();
            awaitText(find(".verdict"), "1 task waits");
            awaitCount(find("section").nth(0).locator("tbody tr"), 1);
            find("section").nth(0).locator("[data-row]").click();
            awaitText(find("tr.detail pre"), "Program.work");
            assertThat((Integer) page.evaluate("document.documentElement.scrollWidth"))
                    .isLessThanOrEqualTo(1280);
            page.keyboard().press("Escape");
            awaitCount(find("tbody tr"), HOSTILE.size());
        }
        assertThat(page.title()).doesNotContain("owned");
        assertThat(find("main b, main img, main script").count()).isZero();
    }

    @Test
    void a_page_connects_again_after_the_program_has_restarted_on_the_same_port() throws Exception {
        complaintsAreExpected = true; // the browser reports refused connections
        Program first = new Program();
        int port = first.console.uri().getPort();
        first.hang();
        open(first.console, "#/groups");
        awaitText(find("tbody"), "payments");
        awaitText(find(".connection"), "live");

        first.close();

        awaitText(find(".connection"), "The program has closed its console. This is its last state.");
        screenshot("ended");
        Program second = start(new Program(ConsoleOptions.defaults().withPort(port)));
        second.flood();
        awaitText(find("tbody"), "tenant-a");
        awaitText(find(".connection"), "live");
        awaitText(find(".notice"), "The connection is back.");
        assertThat(find("tbody").textContent()).doesNotContain("payments");
        assertThat(complaints).allMatch(complaint -> complaint.contains("net::ERR_"));
    }

    @Test
    void a_link_to_a_screen_that_does_not_exist_shows_the_first_one() throws Exception {
        Program program = start(new Program());

        open(program.console, "#/constructor");

        awaitText(find("h1"), "What is wrong");
    }

    @Test
    void the_policy_refuses_scripts_that_are_injected() throws Exception {
        complaintsAreExpected = true;
        Program program = start(new Program());
        open(program.console, "#/groups");
        awaitText(find("h1"), "Groups");

        page.evaluate("""
                const script = document.createElement('script');
                script.textContent = "document.title = 'owned'";
                document.body.append(script);
                const button = document.createElement('button');
                button.setAttribute('onclick', "document.title = 'owned'");
                document.body.append(button);
                button.click();
                """);

        assertThat(page.title()).doesNotContain("owned");
        assertThat(complaints).hasSize(2).allMatch(complaint -> complaint.contains("Content Security Policy"));
    }
}
