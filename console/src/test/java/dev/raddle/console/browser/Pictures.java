package dev.raddle.console.browser;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.console.Incident;
import dev.raddle.console.Incidents;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Takes the pictures of the guide, into the directory that it is given. Programs run as they would: after 20 seconds a
 * tenant floods the first, the service that the second calls hangs, the third drains a pool, and others have incidents.
 * The pictures are taken 40 seconds later.
 */
final class Pictures {

    private static final int BEFORE = 20;
    private static final int AFTER = 40;

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final CountDownLatch end = new CountDownLatch(1);

    private Pictures() {}

    /**
     * Takes the pictures.
     *
     * @param args the directory
     * @throws Exception if there is no browser, or it cannot be started
     */
    public static void main(String[] args) throws Exception {
        new Pictures().take(Path.of(args[0]));
        System.exit(0);
    }

    private void take(Path directory) throws Exception {
        InChromium.openBrowser();
        try {
            Page flood = open(flooded(named("import-service")), "#/groups");
            Page hang = open(hanging(named("order-service")), "#/group?executor=orders&key=payments");
            Page drain = open(draining(named("report-service")), "#/pools");
            Page limit = open(staged(Incident.LIMIT), "");
            Page cap = open(staged(Incident.CAP), "");
            Thread.sleep(Duration.ofSeconds(BEFORE + AFTER));
            hang.locator("button", new Page.LocatorOptions().setHasText("Compare the stacks"))
                    .click();
            hang.locator(".stack pre").waitFor(new Locator.WaitForOptions().setTimeout(10_000));
            picture(flood, directory, "console-flood.png", 470);
            picture(hang, directory, "console-hang.png", 860);
            picture(drain, directory, "console-drain.png", 550);
            picture(limit, directory, "console-limit.png", 800);
            picture(cap, directory, "console-cap.png", 570);
            flood.locator("[data-row]").first().click();
            flood.locator(".uplot").waitFor();
            picture(flood, directory, "console-group.png", 690);
        } finally {
            InChromium.closeBrowser();
        }
    }

    private Console staged(Incident incident) {
        Console console = named("shop");
        timer.schedule(() -> Incidents.stage(incident, console), BEFORE, TimeUnit.SECONDS);
        return console;
    }

    private static Page open(Console console, String screen) {
        Page page = InChromium.browser.newPage(new Browser.NewPageOptions().setViewportSize(1100, 700));
        page.navigate(console.uri() + screen);
        return page;
    }

    private static void picture(Page page, Path directory, String name, int height) {
        page.setViewportSize(1100, height);
        page.screenshot(new Page.ScreenshotOptions().setPath(directory.resolve(name)));
    }

    private void every(int millis, Runnable action) {
        timer.scheduleAtFixedRate(action, millis, millis, TimeUnit.MILLISECONDS);
    }

    /** Starts a console that shows a name in place of the class of this program. */
    private static Console named(String name) {
        System.setProperty("sun.java.command", name);
        return Console.start(ConsoleOptions.defaults().withPort(0));
    }

    private Console flooded(Console console) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .globalMaxInFlight(16)
                .addListener(console.listener("imports"))
                .build());
        console.watch("imports", executor);
        for (String tenant : List.of("acme", "globex", "hooli", "initech", "umbrella")) {
            every(300, () -> executor.submit(tenant, "import", () -> pause(250)));
        }
        timer.schedule(
                () -> {
                    for (int i = 1; i <= 2_000; i++) {
                        executor.submit("hooli", "reimport-" + i, () -> pause(400));
                    }
                },
                BEFORE,
                TimeUnit.SECONDS);
        return console;
    }

    private static String pause(long millis) throws InterruptedException {
        Thread.sleep(millis);
        return "imported";
    }

    private Console hanging(Console console) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(4)
                .addListener(console.listener("orders"))
                .build());
        console.watch("orders", executor);
        AtomicBoolean hangs = new AtomicBoolean();
        PaymentClient client = new PaymentClient(hangs, end);
        int[] number = {0};
        every(200, () -> executor.submit("payments", "charge-" + ++number[0], client::charge));
        every(150, () -> executor.submit("mails", "mail", () -> pause(100)));
        timer.schedule(() -> hangs.set(true), BEFORE, TimeUnit.SECONDS);
        return console;
    }

    private record PaymentClient(AtomicBoolean hangs, CountDownLatch end) {
        String charge() throws InterruptedException {
            return readResponse();
        }

        private String readResponse() throws InterruptedException {
            if (hangs.get()) {
                end.await();
            }
            return pause(300);
        }
    }

    private record Export(String name, CountDownLatch end) implements Runnable {
        @Override
        public void run() {
            while (end.getCount() > 0) {
                try {
                    end.await();
                } catch (InterruptedException ignored) {
                    // this is what keeps the pool from draining
                }
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private Console draining(Console console) {
        ThreadPool pool = ThreadPool.builder("reports")
                .threads(4)
                .queueCapacity(100)
                .stuckAfter(Duration.ofSeconds(10))
                .listener(console.poolListener("reports"))
                .build();
        console.watch(pool);
        ThreadPool mails = ThreadPool.builder("mails").threads(2).build();
        console.watch(mails);
        every(100, () -> mails.execute(() -> work(50)));
        for (int i = 0; i < 300; i++) {
            timer.schedule(() -> pool.execute(() -> work(180)), 60L * i, TimeUnit.MILLISECONDS);
        }
        pool.execute(new Export("export of tenant hooli", end));
        pool.execute(new Export("export of tenant acme", end));
        timer.schedule(
                () -> Thread.ofVirtual().start(() -> pool.drain(Duration.ofSeconds(5))), BEFORE, TimeUnit.SECONDS);
        return console;
    }

    /** The work of a task of a pool that ends. */
    private static void work(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
