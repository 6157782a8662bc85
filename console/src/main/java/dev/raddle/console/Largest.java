package dev.raddle.console;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** The largest of many elements: a heap of bounded size, with the smallest of them at its head. */
final class Largest<T> {

    private final int most;
    private final Comparator<? super T> order;
    private final PriorityQueue<T> heap;

    Largest(int most, Comparator<? super T> order) {
        this.most = most;
        this.order = order;
        this.heap = new PriorityQueue<>(order);
    }

    void add(T element) {
        if (heap.size() < most) {
            heap.add(element);
        } else if (order.compare(element, heap.peek()) > 0) {
            heap.poll();
            heap.add(element);
        }
    }

    List<T> descending() {
        List<T> all = new ArrayList<>(heap);
        all.sort(order.reversed());
        return all;
    }
}
