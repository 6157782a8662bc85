package dev.raddle.examples.orders;

import dev.raddle.flow.FileJournal;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Each order has a journal in a file. A worker executes one order after the other; when it was killed, the next one is
 * started with the same files, and continues.
 */
public final class OrdersInFiles {

    private OrdersInFiles() {}

    /**
     * Runs the example, or one worker.
     *
     * @param args a directory for the files; for a worker its name and its last step come first
     * @throws Exception if a worker fails
     */
    public static void main(String[] args) throws Exception {
        if (args.length == 3) {
            Path directory = Path.of(args[2]);
            work(new OrderFlow(args[0], args[1], new ShopInFiles(directory)), directory);
        } else {
            shop(Files.createDirectory(Path.of(args[0])));
        }
    }

    private static void work(OrderFlow flow, Path directory) throws IOException, InterruptedException {
        FlowPlan<String, String> plan = flow.plan();
        for (String order : OrderFlow.ORDERS) {
            try (FileJournal journal = open(directory, order)) {
                if (journal.ended() == null) { // a run that has ended would be tried again
                    plan.run(order, RunOptions.defaults().withJournal(journal, "order-" + order));
                }
            }
        }
    }

    private static FileJournal open(Path directory, String order) throws IOException {
        return FileJournal.open(directory.resolve("order-" + order + ".journal"), FlowCodec.text());
    }

    private static void shop(Path directory) throws IOException, InterruptedException {
        start("worker-1", "shipped", directory).killWhenItHas("shipped");
        start("worker-2", "freed", directory).killWhenItHas("freed");
        start("worker-3", "", directory).close();
        for (String order : OrderFlow.ORDERS) {
            try (FileJournal journal = open(directory, order)) {
                System.out.println("order-" + order + ": " + journal.ended());
            }
        }
        System.out.println(new ShopInFiles(directory).summary());
    }

    private static WorkerProcess start(String name, String last, Path directory) throws IOException {
        return WorkerProcess.start(OrdersInFiles.class, name, last, directory.toString());
    }
}
