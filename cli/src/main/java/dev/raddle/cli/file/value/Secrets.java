package dev.raddle.cli.file.value;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The values that are neither printed nor kept: {@code ***} takes their place. Of a value with several lines, each line
 * is hidden as well, because programs print it so; and a value with control characters also as {@link Printable} shows
 * it. Immutable.
 */
public final class Secrets {
    /** The minimum length of a value. The parts of a shorter one would be hidden everywhere. */
    public static final int SHORTEST = 4;

    private static final byte[] STARS = {'*', '*', '*'};

    /** Marks a place in a stream for {@link Filter#write}; no other process knows it. */
    private static final byte[] MARK = ("\0" + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);

    /** No values. */
    public static final Secrets NONE = new Secrets(Set.of(), List.of(), StandardCharsets.UTF_8);

    /*
     * Overview.
     *
     * The automaton of Aho and Corasick: a trie of all patterns, node 0 its root, in which each node knows the node of
     * the longest proper suffix of its text. The state after a byte is the longest suffix of the input that begins a
     * pattern. A later match begins in that suffix or after it, so only that suffix is undecided and held back.
     *
     * A state without children cannot grow, so it is replaced by its suffix at once. What is held back is therefore
     * shorter than the longest pattern.
     *
     * Every byte of every occurrence is hidden, also of occurrences that overlap. Adjoining ones share their stars.
     */
    private final Set<String> names;
    private final boolean empty;
    private final byte[] label; // of the edge to the node
    private final int[] child; // the first, or 0
    private final int[] sibling; // the next, or 0
    private final int[] suffix;
    private final int[] depth;
    private final int[] match; // the length of the longest pattern that ends there, or 0
    private final int mark;
    private int nodes = 1;

    /**
     * Creates the secrets of a run.
     *
     * @param names the names of params and variables
     * @param values their values, as far as they are known
     * @param charset the character set in which commands receive and print them
     */
    public Secrets(Set<String> names, Collection<String> values, Charset charset) {
        this.names = Set.copyOf(names);
        this.empty = values.isEmpty();
        List<byte[]> patterns = new ArrayList<>();
        values.stream().flatMap(Secrets::texts).forEach(text -> {
            patterns.add(text.getBytes(StandardCharsets.UTF_8));
            patterns.add(text.getBytes(charset));
        });
        int max = 1
                + MARK.length
                + patterns.stream().mapToInt(bytes -> bytes.length).sum();
        label = new byte[max];
        child = new int[max];
        sibling = new int[max];
        suffix = new int[max];
        depth = new int[max];
        match = new int[max];
        patterns.forEach(bytes -> match[add(bytes)] = bytes.length);
        mark = add(MARK);
        link();
    }

    private static Stream<String> texts(String value) {
        String whole = value.strip();
        return Stream.concat(
                        Stream.of(whole), whole.lines().map(String::strip).filter(line -> line.length() >= SHORTEST))
                .flatMap(text -> Stream.of(text, Printable.oneLine(text)));
    }

    /** Adds a pattern and returns its node. */
    private int add(byte[] pattern) {
        int at = 0;
        for (byte next : pattern) {
            int found = child(at, next);
            if (found == 0) {
                found = nodes++;
                label[found] = next;
                sibling[found] = child[at];
                child[at] = found;
                depth[found] = depth[at] + 1;
            }
            at = found;
        }
        return at;
    }

    /** Computes the suffixes, those of shorter texts first. */
    private void link() {
        Deque<Integer> open = new ArrayDeque<>(List.of(0));
        while (!open.isEmpty()) {
            int node = open.remove();
            for (int next = child[node]; next != 0; next = sibling[next]) {
                suffix[next] = node == 0 ? 0 : next(suffix[node], label[next]);
                match[next] = Math.max(match[next], match[suffix[next]]);
                open.add(next);
            }
        }
    }

    private int child(int node, byte next) {
        int found = child[node];
        while (found != 0 && label[found] != next) {
            found = sibling[found];
        }
        return found;
    }

    private int next(int state, byte next) {
        int at = state;
        int found = child(at, next);
        while (found == 0 && at != 0) {
            at = suffix[at];
            found = child(at, next);
        }
        return found;
    }

    /** Returns the names of the params and variables. */
    public Set<String> names() {
        return names;
    }

    /** Returns whether there is nothing to hide. */
    public boolean isEmpty() {
        return empty;
    }

    /** Returns the bytes that mark a place in a stream. */
    public static byte[] mark() {
        return MARK.clone();
    }

    /** Returns the number of the line in which the first secret ends, or 0 if there is none. */
    public int firstLine(byte[] bytes) {
        int line = 1;
        int state = 0;
        for (byte next : bytes) {
            state = next(state, next);
            if (match[state] > 0) {
                return line;
            }
            line += next == '\n' ? 1 : 0;
        }
        return 0;
    }

    /** Returns whether a text contains a secret. */
    public boolean isIn(String text) {
        return firstLine(text.getBytes(StandardCharsets.UTF_8)) > 0;
    }

    /** Returns a text without secrets, also without the start of one before {@value Printable#CUT}. */
    public String mask(String text) {
        if (empty) {
            return text;
        }
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        Filter filter = new Filter(shown);
        int from = 0;
        for (int cut = text.indexOf(Printable.CUT); cut >= 0; cut = text.indexOf(Printable.CUT, from)) {
            filter.write(text.substring(from, cut));
            filter.cut();
            filter.write(Printable.CUT);
            from = cut + Printable.CUT.length();
        }
        filter.write(text.substring(from));
        filter.end();
        return filter.hasHidden() ? shown.toString(StandardCharsets.UTF_8) : text;
    }

    /** Returns a filter for a new stream, which writes what may be seen. */
    public Filter filter(ByteArrayOutputStream shown) {
        return new Filter(shown);
    }

    /** Replaces the secrets in a stream of bytes, however it is divided. For one thread. */
    public final class Filter {
        private final ByteArrayOutputStream shown;
        private byte[] held = new byte[MARK.length + 1];
        private boolean[] secret = new boolean[MARK.length + 1]; // by the position in `held`
        private int count; // of held bytes: the depth of the state
        private int state;
        private boolean afterSecret;
        private boolean hidden;

        private Filter(ByteArrayOutputStream shown) {
            this.shown = shown;
        }

        /** Returns whether the output differs from the input. */
        public boolean hasHidden() {
            return hidden;
        }

        /**
         * Writes bytes up to the mark, which also releases what is held back.
         *
         * @return the index after the mark, or -1 if it was not found
         */
        public int write(byte[] bytes, int from, int to) {
            for (int i = from; i < to; i++) {
                if (count == held.length) {
                    held = Arrays.copyOf(held, count * 2);
                    secret = Arrays.copyOf(secret, count * 2);
                }
                held[count++] = bytes[i];
                state = next(state, bytes[i]);
                if (state == mark) {
                    count -= MARK.length;
                    end();
                    return i + 1;
                }
                Arrays.fill(secret, count - match[state], count, true);
                while (state != 0 && child[state] == 0) {
                    state = suffix[state];
                }
                release(count - depth[state]);
            }
            return -1;
        }

        private void write(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            write(bytes, 0, bytes.length);
        }

        /** Hides the start of a secret that is held back, if it is not too short: its end has been cut off. */
        private void cut() {
            if (depth[state] >= SHORTEST) {
                Arrays.fill(secret, count - depth[state], count, true);
            }
        }

        /** Releases what is held back: no further byte completes it. */
        public void end() {
            state = 0;
            release(count);
        }

        private void release(int number) {
            for (int i = 0; i < number; i++) {
                if (!secret[i]) {
                    shown.write(held[i]);
                } else if (!afterSecret) {
                    shown.writeBytes(STARS);
                    hidden = true;
                }
                afterSecret = secret[i];
            }
            if (number > 0) {
                System.arraycopy(held, number, held, 0, count - number);
                System.arraycopy(secret, number, secret, 0, count - number);
                Arrays.fill(secret, count - number, count, false);
                count -= number;
            }
        }
    }
}
