package dev.raddle.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

    @Test
    void the_graph_has_every_task_and_edge_with_its_state() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        assertThat(shown.locator("#graph .node").count()).isEqualTo(7);
        assertThat(shown.locator("#graph .edge").count()).isEqualTo(7);
        assertThat(shown.locator("#graph .node[data-task=lint] title").textContent())
                .isEqualTo("lint: failed");
        assertThat(shown.locator("#chips button").allTextContents())
                .containsExactly("5 succeeded", "1 failed", "1 skipped");
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
    void the_critical_path_and_the_slowest_tasks_are_listed_with_separate_wait_and_run_times() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        assertThat(shown.locator("#critical tbody tr").allTextContents())
                .containsExactly("fetch-a0.01 s0.39 s", "compile0.02 s1.48 s", "test0.20 s1.90 s");
        assertThat(shown.locator("#slowest tbody tr").first().textContent()).isEqualTo("test0.20 s1.90 s");
    }

    @Test
    void a_click_on_a_task_shows_its_output_as_text_and_never_as_markup() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        shown.locator("#graph .node[data-task=lint]").click();

        assertThat(shown.locator("#output").textContent())
                .isEqualTo("</script><script>document.title='owned'</script>\n<!-- <b>bold</b> red &amp; \u2028\n");
        assertThat(shown.locator("#details").textContent()).contains("exit code 1", "lint", "cpu");
        assertThat(shown.title()).isEqualTo("</script><script>document.title='owned'</script> – raddle run");
        assertThat(shown.locator("img, b").count()).isZero();
        shown.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve("run-page-details.png")));
        assertThat(complaints).isEmpty();
    }

    @Test
    void the_timeline_shows_a_row_for_each_group_and_task_and_can_be_zoomed_and_folded() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");
        Locator timeline = shown.locator("#timeline");
        assertThat(timeline.getAttribute("data-rows")).isEqualTo("9");

        shown.locator("#zoom-in").click();
        shown.locator("#zoom-fit").click();
        shown.locator("#fold").click();

        assertThat(timeline.getAttribute("data-rows")).isEqualTo("2");
        assertThat(complaints).isEmpty();
    }

    @Test
    void tasks_can_be_filtered_by_state_and_by_part_of_their_id() throws Exception {
        Page shown = opened(Pages.build(directory), "run-page.png");

        shown.locator("#search").fill("fetch");
        assertThat(shown.locator("#list .row").count()).isEqualTo(2);
        shown.locator("#search").fill("");
        shown.locator("#chips button", new Page.LocatorOptions().setHasText("failed"))
                .click();
        assertThat(shown.locator("#list .row").count()).isEqualTo(1);
    }

    @Test
    void a_run_known_from_its_journal_has_no_graph_and_no_times_but_nodes_and_entries() throws Exception {
        Path file = directory.resolve("recorded.html");
        List<RecordedRun.Node> nodes = List.of(
                new RecordedRun.Node("pay", RecordedRun.State.COMPENSATED, 1, null, null, "SUCCESS, attempt 1\n"),
                new RecordedRun.Node("<b>ship", RecordedRun.State.FAILED, 2, "<i>no van", null, "FAILED, attempt 2\n"),
                new RecordedRun.Node("approved", RecordedRun.State.NO_END, 0, null, null, "signal received\n"));
        new RecordedRun("order-17", "FAILED · flow checkout", "run  order-17\n</script><b>\n", nodes).writePage(file);

        Page shown = opened(file, "run-page-recorded.png");

        assertThat(shown.locator("#about").textContent()).isEqualTo("FAILED · flow checkout");
        assertThat(shown.locator("h2:visible").allTextContents()).containsExactly("Nodes 3", "Journal");
        assertThat(shown.locator("#chips button").allTextContents())
                .containsExactly("1 failed", "1 compensated", "1 no end");
        assertThat(shown.locator("#journal pre").textContent()).isEqualTo("run  order-17\n</script><b>\n");
        shown.locator("#list .row").nth(1).click();
        assertThat(shown.locator("#details").textContent()).contains("<b>ship", "failed", "<i>no van", "attempts2");
        assertThat(shown.locator("#details").textContent()).doesNotContain("command", "group");
        assertThat(shown.locator("#output").textContent()).isEqualTo("FAILED, attempt 2\n");
        assertThat(shown.locator("b, i").count()).isZero();
        shown.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve("run-page-recorded-details.png")));
        assertThat(complaints).isEmpty();
    }

    @Test
    void ten_thousand_tasks_are_drawn_by_layer_and_only_visible_rows_are_elements() throws Exception {
        Path file = Pages.tenThousand(directory);
        assertThat(Files.size(file)).isLessThan(20_000_000);

        Page shown = opened(file, "run-page-10000.png");

        assertThat(shown.locator("#graph .layer").count()).isEqualTo(100);
        assertThat(shown.locator("#count").textContent()).isEqualTo("10000");
        assertThat(shown.locator("#list .row").count()).isBetween(10, 60);
        shown.locator("#fold").click();
        assertThat(shown.locator("#timeline").getAttribute("data-rows")).isEqualTo("10004");
        assertThat(Integer.parseInt(shown.locator("#timeline").getAttribute("data-drawn")))
                .isBetween(5, 40);
        shown.evaluate("document.getElementById('list').scrollTop = 24 * 9990");
        shown.locator("#list .row[data-task='t99-99']").click();
        assertThat(shown.locator("#details h2").textContent()).isEqualTo("t99-99");
        assertThat(shown.locator("#output").textContent()).startsWith("a line of output\n");
        shown.locator("#graph .layer").nth(3).click();
        assertThat(shown.locator("#count").textContent()).isEqualTo("100 of 10000");
        shown.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve("run-page-10000-chosen.png")));
        assertThat(complaints).isEmpty();
    }
}
