package dev.raddle.examples.orders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.Schedule;
import java.io.IOException;
import java.time.Duration;
import java.time.ZoneId;
import javax.sql.DataSource;
import org.slf4j.MDC;

/** The orders are in a database. When a worker was killed, another one takes its orders over. */
public final class OrdersInDatabase {

    private OrdersInDatabase() {}

    /**
     * Runs the example, or one worker.
     *
     * @param args the URL of a PostgreSQL database, for JDBC; for a worker its name and its last step come first
     * @throws Exception if the database or a worker fails
     */
    public static void main(String[] args) throws Exception {
        try (HikariDataSource source = connect(args[args.length - 1])) {
            if (args.length == 3) {
                work(source, new OrderFlow(args[0], args[1], new ShopInDatabase(source)));
            } else {
                shop(source, args[0]);
            }
        }
    }

    private static HikariDataSource connect(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        return new HikariDataSource(config);
    }

    /** Counts the orders of a day. The parameter is the date. */
    private static FlowPlan<String, String> report(ShopInDatabase shop) {
        FlowBuilder<String> f = FlowPlan.define("report", String.class);
        return f.returning(f.node("count", c -> c.param() + " " + shop.summary()));
    }

    private static FlowService.Builder service(
            DataSource source, String name, FlowPlan<String, String> plan, FlowPlan<String, String> report) {
        return FlowService.on(source)
                .register(plan, "1", FlowCodec.text(), OrderFlow.OPTIONS)
                .register(report, "1", FlowCodec.text())
                .applySchema()
                .name(name)
                .heartbeat(Duration.ofMillis(250), 4)
                .pollInterval(Duration.ofMillis(100));
    }

    private static void work(DataSource source, OrderFlow flow) throws IOException {
        FlowPlan<String, String> report = report(new ShopInDatabase(source));
        FlowService service =
                service(source, flow.worker(), flow.plan(), report).maxRuns(4).start();
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        try (service) {
            service.schedule(
                    "nightly",
                    report,
                    Schedule.cron("0 3 * * *", berlin),
                    moment -> moment.toLocalDate().toString());
            WorkerProcess.awaitEndOfInput();
        }
    }

    private static void shop(DataSource source, String url) throws Exception {
        ShopInDatabase shop = new ShopInDatabase(source);
        shop.createTables();
        FlowPlan<String, String> plan = new OrderFlow("shop", "", shop).plan();
        try (FlowService service =
                service(source, "shop", plan, report(shop)).submitOnly().start()) {
            for (String order : OrderFlow.ORDERS) {
                try (var _ = MDC.putCloseable(OrderFlow.REQUEST, "request " + order)) { // which the web server does
                    service.submit("order", "order-" + order, order);
                }
            }
            start("worker-1", "shipped", url).killWhenItHas("shipped");
            start("worker-2", "freed", url).killWhenItHas("freed");
            try (WorkerProcess worker = start("worker-3", "", url)) {
                worker.awaitLine("freed");
                for (String order : OrderFlow.ORDERS) {
                    System.out.println("order-" + order + ": "
                            + service.await("order-" + order).state());
                }
                service.schedules().forEach(each -> System.out.println(each.name() + " report at " + each.nextAt()));
            }
        }
        System.out.println(shop.summary());
    }

    private static WorkerProcess start(String name, String last, String url) throws IOException {
        return WorkerProcess.start(OrdersInDatabase.class, name, last, url);
    }
}
