package dev.raddle.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.run.Json;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.TaskState;
import dev.raddle.console.RunPage;
import dev.raddle.console.RunView;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Opens the page in a real browser, from disk and without a network. Screenshots are kept in target/screenshots.
 * Playwright is not thread-safe, so the tests of this class do not run in parallel.
 */
@Timeout(180)
@Execution(ExecutionMode.SAME_THREAD)
class RunPageInBrowserTest {
    private static final int PATIENCE_MILLIS = 150_000;
    private static final Path SCREENSHOTS = Path.of("target", "screenshots");

    private static @Nullable Playwright playwright;
    private static @Nullable Browser browser;

    @TempDir
    private Path directory;

    private final List<String> complaints = new ArrayList<>();
    private @Nullable Page page;

    @BeforeAll
    static void open() throws Exception {
        Path chromium = Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        if (chromium == null) {
            System.out.println("skipped: there is no chromium on this machine; install it to test pages in a browser");
        }
        Assumptions.assumeTrue(chromium != null, "there is no chromium on this machine");
        Files.createDirectories(SCREENSHOTS);
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(chromium)
                        .setTimeout(PATIENCE_MILLIS)
                        .setArgs(List.of("--no-sandbox")));
    }

    @AfterAll
    static void close() {
        if (playwright != null) {
            playwright.close();
        }
    }

    @BeforeEach
    void newPage() {
        page = browser.newContext(
                        new Browser.NewContextOptions().setOffline(true).setViewportSize(1400, 1000))
                .newPage();
        page.setDefaultTimeout(PATIENCE_MILLIS);
        page.onPageError(complaints::add);
        page.onConsoleMessage(message -> {
            if (message.type().equals("error")) {
                complaints.add(message.text());
            }
        });
        page.onRequest(request -> {
            if (!request.url().startsWith("file:")) {
                complaints.add("asked for " + request.url());
            }
        });
    }

    private Page opened(Path file, String screenshot) {
        page.navigate(file.toUri().toString());
        page.screenshot(new Page.ScreenshotOptions()
                .setPath(SCREENSHOTS.resolve(screenshot))
                .setFullPage(true));
        return page;
    }

    /** Returns the texts of the cells of one column of the table of tasks. */
    private static List<String> column(Page shown, int number) {
        return shown.locator("section:has(h2:text('Timeline')) tbody tr > :nth-child(" + number + ")")
                .allInnerTexts();
    }

    private static Locator row(Page shown, String id) {
        return shown.locator("section:has(h2:text('Timeline')) tbody tr:has([data-row='" + id + "'])");
    }

    @Test
    void the_graph_has_every_task_and_edge_with_its_state() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        assertThat(shown.locator(".graph .node").count()).isEqualTo(7);
        assertThat(shown.locator(".graph .edge").count()).isEqualTo(7);
        assertThat(shown.locator(".graph .node[data-node=lint] title").textContent())
                .isEqualTo("lint: failed");
        assertThat(shown.locator(".graph .edge.critical title").allTextContents())
                .containsExactly("fetch-a → compile (any)", "compile → test (must)");
        assertThat(shown.locator(".chip").allInnerTexts())
                .containsExactly("✗ 1 failed", "✓ 5 succeeded", "↷ 1 skipped");
        assertThat(complaints).isEmpty();
    }

    @Test
    void a_script_injected_into_the_page_is_not_executed() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");
        String title = shown.title();

        shown.evaluate("""
                const script = document.createElement('script');
                script.textContent = "document.title = 'owned'";
                document.body.append(script);
                const button = document.createElement('button');
                button.setAttribute('onclick', "document.title = 'owned'");
                document.body.append(button);
                button.click();
                const frame = document.createElement('a');
                frame.href = "javascript:document.title = 'owned'";
                document.body.append(frame);
                frame.click();
                """);

        assertThat(shown.title()).isEqualTo(title);
        assertThat(complaints).isNotEmpty().allMatch(complaint -> complaint.contains("Content Security Policy"));
    }

    @Test
    void failures_come_first_and_the_table_can_be_sorted_by_time() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        assertThat(shown.locator(".verdict").allInnerTexts()).containsExactly("lint failed: exit code 1");
        assertThat(shown.locator("section:has(h2:text('Timeline')) thead th").allInnerTexts())
                .containsExactly("Node", "State ▴", "Group", "When", "Waited", "Took");
        assertThat(column(shown, 2).getFirst()).contains("failed");
        shown.locator("section:has(h2:text('Timeline')) thead button:text('Took')")
                .click();
        shown.waitForCondition(() -> column(shown, 1).getFirst().contains("test"));
        assertThat(column(shown, 6)).startsWith("1.9 s", "1.5 s").endsWith("100 ms", "—");
        assertThat(shown.locator("section:has(h2:text('Critical path')) tbody tr")
                        .allInnerTexts())
                .containsExactly("▸fetch-a\t10 ms\t390 ms", "▸compile\t20 ms\t1.5 s", "▸test\t200 ms\t1.9 s");
    }

    @Test
    void a_click_on_a_task_shows_its_output_as_text_and_never_as_markup() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        shown.locator(".graph .node[data-node=lint]").click();

        Locator details = shown.locator(".details");
        assertThat(details.locator("pre").textContent())
                .isEqualTo("</script><script>document.title='owned'</script>\n<!-- <b>bold</b> red &amp;\n");
        assertThat(details.innerText()).contains("exit code", "lint", "cpu");
        details.locator("button:has-text('fetch-a')").click(); // what it needs
        assertThat(shown.locator(".details h3").innerText()).isEqualTo("fetch-a");
        assertThat(shown.title()).startsWith("failed · </script><script>document.title='owned'</script>");
        assertThat(shown.locator("img, b").count()).isZero();
        shown.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve("run-page-details.png")));
        assertThat(complaints).isEmpty();
    }

    @Test
    void a_filter_by_state_or_by_a_part_of_the_name_holds_for_the_graph_and_the_table() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        shown.locator("input[type=search]").fill("FETCH");
        shown.waitForCondition(() -> column(shown, 1).size() == 2);
        assertThat(shown.locator(".graph .node:not(.faint)").count()).isEqualTo(2);
        shown.locator("input[type=search]").fill("");
        shown.locator(".chip", new Page.LocatorOptions().setHasText("failed")).click();
        shown.waitForCondition(() -> column(shown, 1).size() == 1);
        assertThat(shown.locator(".graph .node:not(.faint)").getAttribute("data-node"))
                .isEqualTo("lint");
    }

    @Test
    void each_attempt_is_a_bar_and_its_failure_is_in_the_details() throws Exception {
        Page shown = opened(Pages.retried(directory), "run-page-retried.png");

        assertThat(row(shown, "flaky").locator(".attempt").count()).isEqualTo(3);
        assertThat(row(shown, "flaky").locator(".attempt.fill-failed").count()).isEqualTo(2);
        assertThat(row(shown, "flaky").innerText()).contains("3 attempts", "50 ms", "450 ms");
        row(shown, "flaky").locator("[data-row]").click();
        assertThat(shown.locator(".details .attempts li").allInnerTexts())
                .satisfiesExactly(
                        first -> assertThat(first).contains("100 ms: exit code 7"),
                        second -> assertThat(second).contains("100 ms: exit code 8"),
                        third -> assertThat(third).contains("50 ms"));
        assertThat(complaints).isEmpty();
    }

    @Test
    void a_group_has_a_curve_of_what_ran_and_waited_and_the_one_that_waited_most_is_first() throws Exception {
        Plan plan = Pages.plan("""
                name: serial
                groups: { one: { limit: 1 }, two: { limit: 2 } }
                tasks:
                  - { id: a, group: one, run: "a" }
                  - { id: b, group: one, run: "b" }
                  - { id: c, group: one, run: "c" }
                  - { id: d, group: two, run: "d" }
                """);
        List<PlannedTask> tasks = plan.tasks();
        Page shown = opened(
                Pages.write(
                        plan,
                        List.of(
                                Pages.result(tasks.get(0), TaskState.SUCCEEDED, 0, 0, 1000, null),
                                Pages.result(tasks.get(1), TaskState.SUCCEEDED, 0, 1000, 2000, null),
                                Pages.result(tasks.get(2), TaskState.SUCCEEDED, 0, 2000, 3000, null),
                                Pages.result(tasks.get(3), TaskState.SUCCEEDED, 0, 0, 3000, null)),
                        directory.resolve("serial.html")),
                "run-page-groups.png");

        Locator rows = shown.locator("section:has(h2:text('Groups')) tbody tr");
        assertThat(rows.locator("th, .number").allInnerTexts())
                .containsExactly("one", "3", "3.0 s", "3.0 s", "two", "1", "0 ms", "3.0 s");
        assertThat(rows.locator("svg").evaluateAll("all => all.map(each => each.getAttribute('aria-label'))"))
                .isEqualTo(List.of("at most about 1 running and 2 waiting", "at most about 1 running and 0 waiting"));
        assertThat(rows.locator("polygon.waits").count()).isEqualTo(1);
        assertThat(complaints).isEmpty();
    }

    @Test
    void a_flat_run_of_eight_hundred_tasks_is_a_grid() throws Exception {
        Page shown = opened(Pages.flat(directory, 800), "run-page-flat.png");

        assertThat(shown.locator(".graph .node").count()).isEqualTo(800);
        assertThat(((Number) shown.evaluate("new Set([...document.querySelectorAll('.graph .box')]"
                                + ".map(box => box.getAttribute('x'))).size"))
                        .intValue())
                .isEqualTo(40);
        assertThat(complaints).isEmpty();
    }

    @Test
    void ten_thousand_tasks_are_cells_and_the_table_has_pages() throws Exception {
        Path file = Pages.tenThousand(directory);
        assertThat(Files.size(file)).isLessThan(20_000_000);

        Page shown = opened(file, "run-page-10000.png");

        assertThat(shown.locator(".graph canvas").count()).isEqualTo(1);
        assertThat(column(shown, 1)).hasSize(200);
        assertThat(shown.locator("nav.pages").innerText()).contains("1 to 200 of 10,000");
        Locator cells = shown.locator(".graph canvas");
        double fitting = cells.boundingBox().width;
        assertThat(fitting).isLessThanOrEqualTo(shown.locator(".graph").boundingBox().width);
        for (int i = 0; i < 3; i++) {
            shown.locator("button:text('Zoom in')").click();
        }
        assertThat(cells.boundingBox().width).isGreaterThan(2 * fitting);
        cells.click(new Locator.ClickOptions().setPosition(3, 3));
        assertThat(shown.locator(".details h3").innerText()).isEqualTo("t0-0");
        cells.click(new Locator.ClickOptions().setPosition(3, 3));
        shown.locator("button:text('Fit')").click();
        assertThat(cells.boundingBox().width).isEqualTo(fitting);
        shown.locator("nav.pages button:text('Next')").click();
        assertThat(shown.locator("nav.pages").innerText()).contains("201 to 400 of 10,000");
        shown.locator("input[type=search]").fill("t99-99");
        row(shown, "t99-99").locator("[data-row]").click();
        assertThat(shown.locator(".details pre").textContent()).startsWith("a line of output\n");
        assertThat(shown.locator(".details").innerText()).contains("t98-99", "t98-0 (after)");
        shown.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve("run-page-10000-chosen.png")));
        assertThat(complaints).isEmpty();
    }

    @Test
    void a_chain_of_ten_thousand_tasks_has_a_cell_for_the_last_one() throws Exception {
        Page shown = opened(Pages.chain(directory, 10_000), "run-page-chain.png");

        shown.waitForFunction("""
                () => {
                    const canvas = document.querySelector('.graph canvas');
                    const last = canvas.getContext('2d').getImageData(canvas.width - 15, canvas.height - 10, 8, 8);
                    return last.data.every((value, i) => value > 0);
                }""");
        assertThat(complaints).isEmpty();
    }

    @Test
    void a_failure_stands_before_its_consequences() throws Exception {
        Page shown = opened(Pages.consequences(directory), "run-page-consequences.png");

        assertThat(shown.locator(".verdict").allInnerTexts()).hasSize(5).startsWith("cause failed: exit code 1");
        assertThat(complaints).isEmpty();
    }

    @Test
    void names_in_any_script_and_of_any_length_are_text_and_fit_a_narrow_window() throws Exception {
        List<String> names =
                List.of("\u202eevil\u2028", "שלום", "👩‍🚀 报表", "x".repeat(10_000), "</script><b>", "__proto__");
        Map<String, JournalOnly.Step> steps = new LinkedHashMap<>();
        names.forEach(name -> steps.put(name, new JournalOnly.Step("failed", name)));
        Path file = directory.resolve("names.html");
        try (Writer writer = Files.newBufferedWriter(file)) {
            RunPage.write(new JournalOnly(steps), Json::text, writer);
        }

        Page shown = opened(file, "run-page-names.png");

        assertThat(shown.locator(".graph .node").evaluateAll("all => all.map(each => each.dataset.node)"))
                .isEqualTo(names);
        for (int i = 0; i < names.size(); i++) {
            shown.locator(".graph .node").nth(i).click();
            assertThat(shown.locator(".details h3").count()).isEqualTo(1);
        }
        assertThat(shown.locator("b").count()).isZero();
        shown.setViewportSize(400, 900);
        assertThat((Boolean) shown.evaluate("document.documentElement.scrollWidth <= innerWidth"))
                .isTrue();
        assertThat(complaints).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = ColorScheme.class,
            names = {"LIGHT", "DARK"})
    void the_page_has_no_serious_finding_of_axe_and_fits_a_narrow_window(ColorScheme scheme) throws Exception {
        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme));
        Page shown = opened(Pages.build(directory), "run-page-" + scheme + ".png");
        row(shown, "lint").locator("[data-row]").click();

        assertThat(new AxeBuilder(shown).analyze().getViolations())
                .filteredOn(rule -> List.of("serious", "critical").contains(rule.getImpact()))
                .isEmpty();
        shown.setViewportSize(400, 900);
        assertThat((Boolean) shown.evaluate("document.documentElement.scrollWidth <= innerWidth"))
                .isTrue();
    }

    @Test
    void the_keyboard_alone_reaches_a_task_in_the_graph_and_in_the_table() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        shown.locator(".graph .node[tabindex='0']").focus();
        shown.keyboard().press("ArrowRight");
        shown.keyboard().press("Enter");
        assertThat(shown.locator(".details h3").count()).isEqualTo(1);
        shown.locator("section:has(h2:text('Timeline')) [data-row][tabindex='0']")
                .focus();
        shown.keyboard().press("ArrowDown");
        shown.keyboard().press("Enter");
        assertThat(shown.locator("tr.detail .details").count()).isEqualTo(1);
    }

    @Test
    void a_page_of_a_console_follows_a_run_and_stays_as_its_report() throws Exception {
        Plan plan = Pages.plan("name: live\ntasks: [{ id: a, run: make }, { id: b, run: test, needs: a }]");
        PlannedTask a = plan.tasks().getFirst();
        Path output = Files.writeString(directory.resolve("a.log"), "cannot make it\n");
        PlanRun run = new PlanRun(plan, directory.resolve("live.html"), Pages.BEGIN);
        Page live = browser.newContext().newPage();
        live.setDefaultTimeout(PATIENCE_MILLIS);
        try (RunConsole console = new RunConsole(0, "live")) {
            live.navigate(console.show(run));
            live.waitForSelector("h1:has-text('running')");
            assertThat(row(live, "b").innerText()).contains("Waits for a.");
            run.on(new RunEvent.TaskQueued(Pages.BEGIN, "a", a.group()));
            run.on(new RunEvent.AttemptStarted(Pages.BEGIN, "a", a.group(), 1, 1, 1, null, null));
            live.waitForSelector(".node.s-running[data-node=a]");

            Pages.end(
                    run,
                    plan,
                    List.of(
                            Pages.result(a, TaskState.FAILED, 0, 0, 90, output),
                            Pages.result(plan.tasks().get(1), TaskState.SKIPPED, 90, 90, 90, null)));
        }

        live.waitForSelector(".connection:has-text('The program has closed its console. This is its last state.')");
        assertThat(live.locator("h1").innerText()).isEqualTo("live ✗ failed");
        row(live, "a").locator("[data-row]").click();
        assertThat(live.locator(".details pre").textContent()).isEqualTo("cannot make it\n");
        live.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve("run-console-ended.png")));
        live.context().close();
    }

    @Test
    void a_run_known_from_its_journal_has_nodes_and_the_journal() throws Exception {
        Path file = directory.resolve("recorded.html");
        try (Writer writer = Files.newBufferedWriter(file)) {
            RunPage.write(
                    new JournalOnly(Map.of(
                            "pay",
                            new JournalOnly.Step("compensated", null),
                            "<b>ship",
                            new JournalOnly.Step("failed", "<i>no van"))),
                    Json::text,
                    writer);
        }

        Page shown = opened(file, "run-page-recorded.png");

        assertThat(shown.locator("h1").innerText()).isEqualTo("order-17 ✗ failed");
        assertThat(shown.locator(".chip").allInnerTexts()).containsExactly("✗ 1 failed", "↶ 1 compensated");
        assertThat(shown.locator("pre[aria-label=Journal]").textContent()).isEqualTo("run  order-17\n</script><b>\n");
        row(shown, "<b>ship").locator("[data-row]").click();
        assertThat(shown.locator(".details").innerText()).contains("<b>ship", "failed", "<i>no van");
        assertThat(shown.locator(".details").innerText()).doesNotContain("command", "group");
        assertThat(shown.locator("b, i").count()).isZero();
        assertThat(complaints).isEmpty();
    }

    /** A run without edges and times. */
    private record JournalOnly(Map<String, Step> nodes) implements RunView {

        private record Step(String state, @Nullable String error) implements Node {}

        @Override
        public String name() {
            return "order-17";
        }

        @Override
        public String state() {
            return "failed";
        }

        @Override
        public Instant startedAt() {
            return Pages.BEGIN;
        }

        @Override
        public Instant endedAt() {
            return Pages.BEGIN;
        }

        @Override
        public String text() {
            return "run  order-17\n</script><b>\n";
        }
    }
}
