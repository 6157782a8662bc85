package dev.raddle.flow;

import java.util.Arrays;
import java.util.List;

/** Finds the cycles of a graph that has some, and writes them down for people. */
final class Cycles {

    /*
     * Overview.
     *
     * Nodes that can all be reached from each other are a component, and a cycle lies in one component. Tarjan's algorithm finds
     * the components; it goes upstream, and its recursion is an array, since a path may be as long as the graph. (R. Tarjan,
     * "Depth-first search and linear graph algorithms", 1972.)
     *
     * Then each node of a component that lies on no cycle yet names a shortest one through itself: a search upstream, which does
     * not leave the component, comes back to it. The first search of every component is always made, and all of them together go
     * over each edge once. The others would cost the square of a component in the worst case, many short cycles through one node
     * of many; so they end when they have gone over some edges in all. Who has mended what was named hears of the rest.
     */

    private static final int NONE = -1;
    private static final int MOST_STEPS = 1_000_000; // of searches in components that have named a cycle

    private final int size;
    private final String[] ids; // perhaps with room for more
    private final int[] upStart;
    private final int[] up;
    private final int[] component; // the one of each node, by number
    private final boolean[] named; // nodes that lie on a cycle that was named
    private final int[] below; // from which node the last search has come
    private final int[] searched; // from which start
    private final int[] open;
    private int components;
    private int steps;

    Cycles(String[] ids, int[] upStart, int[] up) {
        size = upStart.length - 1;
        this.ids = ids;
        this.upStart = upStart;
        this.up = up;
        component = filled(size);
        named = new boolean[size];
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
            if (named[node] || (known[component[node]] && steps >= MOST_STEPS)) {
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
        int[] number = filled(size); // when the walk came to each node
        int[] lowest = new int[size]; // the smallest number that is known to be reached from it
        int[] edge = Arrays.copyOf(upStart, size); // where the walk goes on
        int[] path = new int[size];
        int numbers = 0;
        int waiting = 0; // nodes in open, whose component is not known yet
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

    /** Returns the node below the start in a shortest cycle through it, or NONE if there is no cycle. */
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
        named[start] = true;
        for (int node = second; node != start; node = below[node]) {
            named[node] = true;
            text.append(" --> ").append(ids[node]);
        }
        return text.append(" --> ").append(ids[start]) + (second == start ? " (self loop)" : "");
    }
}
