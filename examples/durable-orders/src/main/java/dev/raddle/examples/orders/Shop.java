package dev.raddle.examples.orders;

import dev.raddle.flow.NodeContext;

/**
 * What an order changes outside of its flow. Each call may be repeated, because a process may die after the call and
 * before that is recorded. So each change is marked with the order, and a repeated call changes nothing.
 */
interface Shop {

    /** Takes a book from the stock. */
    void reserve(NodeContext<String> node) throws Exception;

    /** Puts it back. */
    void free(String order) throws Exception;

    /** Takes money from the customer. */
    void charge(String order) throws Exception;

    /** Gives it back. */
    void refund(String order) throws Exception;
}
