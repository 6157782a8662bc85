package dev.raddle.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.deque.html.axecore.results.AxeResults;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import dev.raddle.console.Console;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Opens consoles of real programs in a real browser. Screenshots are kept in target/screenshots. Playwright is not
 * thread-safe, so the tests of a class do not run in parallel.
 */
@Timeout(180)
@Execution(ExecutionMode.SAME_THREAD)
abstract class InChromium {

    static final Path SCREENSHOTS = Path.of("target", "screenshots");
    private static final int PATIENCE_MILLIS = 60_000;

    private static Playwright playwright;
    static Browser browser;

    /** What the browser complained of: errors, violations of the policy, requests to other hosts. */
    final List<String> complaints = new ArrayList<>();

    Page page;
    boolean complaintsAreExpected;
    private Program program;

    @BeforeAll
    static void openBrowser() throws Exception {
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
                        .setArgs(List.of("--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc")));
    }

    @AfterAll
    static void closeBrowser() {
        if (playwright != null) {
            playwright.close();
        }
    }

    @BeforeEach
    void openPage() {
        newPage(1280, 800, ColorScheme.LIGHT);
    }

    @AfterEach
    void closePage() throws Exception {
        if (page != null) {
            page.context().close(); // first: it would complain of a console that has closed
        }
        if (program != null) {
            program.close();
        }
        if (!complaintsAreExpected) {
            assertThat(complaints).isEmpty();
        }
    }

    /** Has a program closed at the end of the test. */
    final Program start(Program started) {
        program = started;
        return started;
    }

    final void newPage(int width, int height, ColorScheme scheme) {
        if (page != null) {
            page.context().close();
        }
        page = browser.newContext(new Browser.NewContextOptions()
                        .setViewportSize(width, height)
                        .setColorScheme(scheme))
                .newPage();
        page.setDefaultTimeout(PATIENCE_MILLIS);
        page.onPageError(complaints::add);
        page.onConsoleMessage(message -> {
            if (message.type().equals("error")) {
                complaints.add(message.text());
            }
        });
    }

    /** Opens a screen, such as {@code #/pools}. */
    final void open(Console console, String screen) {
        String origin = console.uri().toString();
        page.onRequest(request -> {
            if (!request.url().startsWith(origin)) {
                complaints.add("asked for " + request.url());
            }
        });
        page.navigate(origin + screen);
    }

    /** Types the token into the form that a console with controls shows first. */
    final void signIn(String token) {
        find("input[type=password]").fill(token);
        page.keyboard().press("Enter");
    }

    final Locator find(String selector) {
        return page.locator(selector);
    }

    /** Returns the elements that have a text. */
    final Locator find(String selector, String text) {
        return page.locator(selector, new Page.LocatorOptions().setHasText(text));
    }

    /** Returns the row of a table whose text contains a part. */
    final Locator row(String part) {
        return find("tbody tr", part).first();
    }

    final Locator button(String name) {
        return find("button", name).first();
    }

    /** Waits until an element has a text. */
    static void awaitText(Locator element, String text) {
        PlaywrightAssertions.assertThat(element)
                .containsText(text, new LocatorAssertions.ContainsTextOptions().setTimeout(PATIENCE_MILLIS));
    }

    static void awaitCount(Locator elements, int count) {
        PlaywrightAssertions.assertThat(elements)
                .hasCount(count, new LocatorAssertions.HasCountOptions().setTimeout(PATIENCE_MILLIS));
    }

    static void awaitFocus(Locator element) {
        PlaywrightAssertions.assertThat(element)
                .isFocused(new LocatorAssertions.IsFocusedOptions().setTimeout(PATIENCE_MILLIS));
    }

    /** Ensures that the screen has no serious fault of accessibility. */
    final void checkAccessibility(String screen) {
        AxeResults found = new AxeBuilder(page).analyze();
        assertThat(found.getPasses()).hasSizeGreaterThan(10);
        assertThat(found.getViolations())
                .filteredOn(rule -> List.of("serious", "critical").contains(rule.getImpact()))
                .as(screen)
                .extracting(rule -> rule.getId() + ": " + rule.getHelp() + " "
                        + rule.getNodes().getFirst().getHtml() + " "
                        + rule.getNodes().getFirst().getAny())
                .isEmpty();
    }

    final void screenshot(String name) {
        page.mouse().move(0, 0);
        page.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve(name + ".png")));
    }
}
