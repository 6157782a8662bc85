package dev.raddle.examples.orders;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.slf4j.MdcPropagator;
import java.io.IOException;
import java.util.List;
import org.slf4j.MDC;

/**
 * The flow of an order, wherever it runs: reserve a book, charge the customer, ship the parcel. If there is no way to
 * ship it, the customer is refunded, and the book is free again.
 *
 * @param worker the name of the process, for what it prints
 * @param last the step after which this process stops, until it is killed; empty if it does not
 * @param shop the stock and the bank
 */
record OrderFlow(String worker, String last, Shop shop) {

    /** The numbers of the orders. */
    static final List<String> ORDERS = List.of("1", "2", "3", "4", "5", "6", "7", "8", "9", "10");

    /** The order whose customer is not found. */
    static final String LOST = "7";

    /** The entry of the logging context that an order keeps in all processes. */
    static final String REQUEST = "request";

    /** The options of each run, where runs are kept for others. */
    static final RunOptions OPTIONS = RunOptions.defaults().addPropagator(MdcPropagator.saving(REQUEST));

    /** The parameter is the number of the order. */
    FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> reserve = f.node("reserve", node -> {
                    shop.reserve(node);
                    return done("reserved", node.param());
                })
                .compensate(order -> {
                    shop.free(order);
                    done("freed", order);
                });
        Node<String> charge = f.node("charge", reserve, order -> {
                    shop.charge(order);
                    return done("charged", order);
                })
                .compensate(order -> {
                    shop.refund(order);
                    done("refunded", order);
                });
        Node<String> ship = f.node("ship", charge, order -> {
            if (order.equals(LOST)) {
                throw new IllegalStateException("no such address");
            }
            return "parcel " + done("shipped", order);
        });
        return f.returning(ship);
    }

    /**
     * Prints what has happened, with the request that has ordered, as a logger would print it. It is not recorded yet:
     * that follows when the node has returned.
     */
    private String done(String step, String order) throws IOException {
        String request = MDC.get(REQUEST);
        System.out.println(worker + " " + step + " order " + order + (request == null ? "" : " of " + request));
        if (step.equals(last)) {
            WorkerProcess.awaitEndOfInput();
        }
        return order;
    }
}
