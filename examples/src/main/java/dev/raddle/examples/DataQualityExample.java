package dev.raddle.examples;

import static dev.raddle.flow.Dependency.atLeast;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Deliveries of data, each checked before it is stored, as a flow: two of three checks must pass. The checks of one
 * source share its limit, in all runs together, and the steps of a failed run are compensated.
 */
public final class DataQualityExample {

    /**
     * A file with a line of column names and a line for each order.
     *
     * @param source the source of the data
     * @param file the comma-separated file: id, cents and, for some sources, country
     */
    public record Delivery(String source, Path file) {}

    /** The contents of a delivery. */
    record Table(List<String> columns, List<List<String>> rows) {

        static Table read(Path file) throws IOException {
            List<List<String>> lines = Files.readAllLines(file).stream()
                    .map(line -> List.of(line.split(",", -1)))
                    .toList();
            return new Table(lines.getFirst(), lines.subList(1, lines.size()));
        }

        List<String> column(String name) {
            int column = columns.indexOf(name);
            return rows.stream().map(row -> row.get(column)).toList();
        }
    }

    /** Announces stored data. */
    @FunctionalInterface
    interface Announcer {
        void announce(int rows) throws IOException;
    }

    private final GroupExecutor executor;
    private final Path staging;
    private final Announcer announcer;
    private final Map<Delivery, Table> store = new ConcurrentHashMap<>();
    private final FlowPlan<Delivery, Integer> plan;

    /**
     * Creates the flow.
     *
     * @param executor the executor with a group for each source
     * @param staging the directory for deliveries while they are checked
     * @param announcer the announcer of stored data
     */
    DataQualityExample(GroupExecutor executor, Path staging, Announcer announcer) {
        this.executor = executor;
        this.staging = staging;
        this.announcer = announcer;
        plan = plan();
    }

    private FlowPlan<Delivery, Integer> plan() {
        FlowBuilder<Delivery> f = FlowPlan.define("delivery", Delivery.class);
        Node<Path> staged = f.node("stage", c -> stage(c.param())).compensate(Files::delete);
        Node<Table> table = f.node("read", staged, Table::read);
        Node<String> ids = f.node("ids", table, DataQualityExample::checkIds).group(DataQualityExample::source);
        Node<String> cents =
                f.node("cents", table, DataQualityExample::checkCents).group(DataQualityExample::source);
        Node<String> countries = f.node("countries", table, DataQualityExample::checkCountries)
                .group(DataQualityExample::source)
                .when(c -> c.read(table).columns().contains("country"));
        Node<Delivery> stored = f.node(
                        "store", table, atLeast(2, ids, cents, countries), (c, t, passed) -> store(c.param(), t))
                .compensate(store::remove);
        Node<Integer> count =
                f.node("count", stored, table, (delivery, t) -> t.rows().size());
        f.node("announce", count, rows -> {
            announcer.announce(rows);
            return rows;
        });
        return f.returning(count);
    }

    private static String source(NodeContext<?> context) {
        return ((Delivery) context.param()).source();
    }

    private Path stage(Delivery delivery) throws IOException {
        Path copy = staging.resolve(delivery.file().getFileName());
        return Files.copy(delivery.file(), copy, StandardCopyOption.REPLACE_EXISTING);
    }

    private Delivery store(Delivery delivery, Table table) {
        store.put(delivery, table);
        return delivery;
    }

    private static String checkIds(Table table) {
        Set<String> seen = new HashSet<>();
        for (String id : table.column("id")) {
            if (!seen.add(id)) {
                throw new IllegalStateException("id " + id + " occurs twice");
            }
        }
        return "ids";
    }

    private static String checkCents(Table table) {
        for (String cents : table.column("cents")) {
            if (Integer.parseInt(cents) < 0) {
                throw new IllegalStateException("cents must not be negative, were " + cents);
            }
        }
        return "cents";
    }

    private static String checkCountries(Table table) {
        for (String country : table.column("country")) {
            if (!country.matches("[A-Z]{2}")) {
                throw new IllegalStateException("a country has two capital letters, was \"" + country + "\"");
            }
        }
        return "countries";
    }

    /**
     * Checks and stores a delivery.
     *
     * @param delivery the delivery
     * @return the result of the run, with the number of stored rows as its value
     * @throws InterruptedException if the calling thread is interrupted
     */
    FlowResult<Integer> take(Delivery delivery) throws InterruptedException {
        return plan.run(delivery, RunOptions.defaults().withGroups(executor::scheduler));
    }

    /** Returns the stored deliveries. */
    Set<Delivery> stored() {
        return Set.copyOf(store.keySet());
    }

    /**
     * Processes a correct delivery and one for which two checks fail, and prints the results and their reasons.
     *
     * @param args none
     * @throws IOException if a file cannot be written
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("deliveries");
        Path staging = Files.createDirectory(directory.resolve("staging"));
        Path good = Files.writeString(directory.resolve("good.csv"), "id,cents,country\n1,250,NO\n2,300,IS\n");
        Path bad = Files.writeString(directory.resolve("bad.csv"), "id,cents\n1,250\n1,-300\n");
        GroupPolicy one = GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(one)) {
            DataQualityExample example =
                    new DataQualityExample(executor, staging, rows -> System.out.println(rows + " rows are new"));
            for (Path file : List.of(good, bad)) {
                print(example.take(new Delivery("north", file)));
            }
            System.out.println(example.stored().size() + " of 2 deliveries are stored");
        } finally {
            for (Path each : List.of(staging.resolve("good.csv"), good, bad, staging, directory)) {
                Files.deleteIfExists(each);
            }
        }
    }

    private static void print(FlowResult<Integer> result) {
        System.out.println(result);
        for (NodeReport<?> node : result.nodes()) {
            if (node.state() != NodeState.SUCCESS) {
                System.out.println("  " + node.id() + " is " + result.explain(node.id()));
            }
        }
    }
}
