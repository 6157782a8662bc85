package dev.raddle.flow;

import java.util.Arrays;
import java.util.List;

/** Finds cycles of a graph and describes them in messages. */
final class Cycles {

    /*
     * Overview.
     *
     * A strongly connected component is a set of nodes that can all be reached from each other; every cycle is inside
     * one component. Tarjan's algorithm finds the components. It follows the edges upstream, and uses an array instead
     * of recursion, since a path may be as long as the graph. (R. Tarjan, "Depth-first search and linear graph
     * algorithms", 1972.)
     *
     * Then, for each node of a component that is not on a reported cycle, a shortest cycle through it is reported: a
     * search upstream, inside the component, until it returns to the node. The first search in every component is
     * always made; together these traverse each edge at most once. The further searches would cost the square of the
     * size of a component in the worst case, many short cycles through one of many nodes; so they stop after a total
     * number of edges. The remaining cycles are reported when the user has fixed the reported ones and builds the plan
     * again.
     */

    private static final int NONE = -1;
    private static final int MAX_STEPS = 1_000_000; // of searches in components with a reported cycle

    private final int size;
    private final String[] ids; // may be longer than size
    private final int[] upStart;
    private final int[] up;
    private final int[] component; // the number of the component of each node
    private final boolean[] reported; // nodes that are on a reported cycle
    private final int[] below; // the node from which the last search reached each node
    private final int[] searched; // the start of the last search that reached each node
    private final int[] open;
    private int components;
    private int steps;

    Cycles(String[] ids, int[] upStart, int[] up) {
        size = upStart.length - 1;
        this.ids = ids;
        this.upStart = upStart;
        this.up = up;
        component = filled(size);
        reported = new boolean[size];
        below = new int[size];
        searched = filled(size);
        open = new int[size + 1];
    }

    private static int[] filled(int size) {
        int[] nodes = new int[size];
        Arrays.fill(nodes, NONE);
        return nodes;
    }

    void addTo(List<String> problems) {
        findComponents();
        boolean[] known = new boolean[components];
        for (int node = 0; node < size; node++) {
            if (reported[node] || (known[component[node]] && steps >= MAX_STEPS)) {
                continue;
            }
            int second = searchFrom(node, known[component[node]]);
            if (second != NONE) {
                known[component[node]] = true;
                problems.add("cycle: " + text(node, second));
            }
        }
    }

    private void findComponents() {
        int[] number = filled(size); // the order in which the search reached each node
        int[] lowest = new int[size]; // the smallest number known to be reachable from it
        int[] edge = Arrays.copyOf(upStart, size); // the next edge to follow
        int[] path = new int[size];
        int numbers = 0;
        int waiting = 0; // nodes in open, whose component is not yet known
        for (int start = 0; start < size; start++) {
            int depth = number[start] == NONE ? 0 : NONE;
            path[0] = start;
            while (depth >= 0) {
                int node = path[depth];
                if (number[node] == NONE) {
                    number[node] = numbers;
                    lowest[node] = numbers++;
                    open[waiting++] = node;
                }
                if (edge[node] < upStart[node + 1]) {
                    int upstream = up[edge[node]++];
                    if (number[upstream] == NONE) {
                        path[++depth] = upstream;
                    } else if (component[upstream] == NONE) {
                        lowest[node] = Math.min(lowest[node], number[upstream]);
                    }
                    continue;
                }
                if (lowest[node] == number[node]) {
                    do {
                        component[open[--waiting]] = components;
                    } while (open[waiting] != node);
                    components++;
                }
                if (--depth >= 0) {
                    lowest[path[depth]] = Math.min(lowest[path[depth]], lowest[node]);
                }
            }
        }
    }

    /** Returns the node below the start in a shortest cycle through it, or NONE if there is none. */
    private int searchFrom(int start, boolean counts) {
        int count = 1;
        open[0] = start;
        for (int next = 0; next < count; next++) {
            int node = open[next];
            for (int edge = upStart[node]; edge < upStart[node + 1]; edge++) {
                int upstream = up[edge];
                steps += counts ? 1 : 0;
                if (upstream == start) {
                    return node;
                }
                if (component[upstream] == component[start] && searched[upstream] != start) {
                    searched[upstream] = start;
                    below[upstream] = node;
                    open[count++] = upstream;
                }
            }
        }
        return NONE;
    }

    private String text(int start, int second) {
        StringBuilder text = new StringBuilder(ids[start]);
        reported[start] = true;
        for (int node = second; node != start; node = below[node]) {
            reported[node] = true;
            text.append(" --> ").append(ids[node]);
        }
        return text.append(" --> ").append(ids[start]) + (second == start ? " (self loop)" : "");
    }
}
