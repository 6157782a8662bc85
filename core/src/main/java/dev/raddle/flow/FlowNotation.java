package dev.raddle.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The arrow notation for dependencies between nodes, in one line.
 *
 * <table class="striped">
 * <caption>Notation</caption>
 * <tr><th>text</th><th>meaning</th></tr>
 * <tr><td>{@code a-->b-->c}</td><td>b requires the success of a, and c that of b</td></tr>
 * <tr><td>{@code a-->(b-->c, d)-->e}</td><td>b and d require a; e requires c and d</td></tr>
 * <tr><td>{@code any(a, b-->c)-->d}</td><td>d begins with the first success of a and c</td></tr>
 * <tr><td>{@code atLeast(2, a, b, c)-->d}</td><td>d begins with the second success of a, b and c</td></tr>
 * <tr><td>{@code (optional(a), must(b), after(c))-->d}</td><td>d requires b, waits for the end of c, and reads a if
 * available</td></tr>
 * </table>
 *
 * <p>Several such lines are separated by commas, semicolons or line ends. An id is any text without white space,
 * brackets, commas, semicolons and arrows.
 */
public final class FlowNotation {

    /*
     * Overview. A recursive descent over
     *
     *   text   = chain { separator chain }
     *   chain  = step { "-->" step }
     *   step   = id | [ word ] "(" chain { "," chain } ")"
     *
     * Each step and each chain is a fragment: its heads are the ids that an arrow to it leads to, its tails the bundles
     * that an arrow from it starts at. An arrow creates a link from each tail of the left fragment to each head of the
     * right one.
     */

    /** Upstream nodes of one dependency. */
    private record Bundle(Dependency.Kind kind, int needed, List<String> ids) {

        Stream<Dependency<?>> dependencies() {
            return kind == Dependency.Kind.ANY || kind == Dependency.Kind.AT_LEAST
                    ? Stream.of(new Dependency.Clause<>(kind, needed, ids.stream()))
                    : ids.stream().map(id -> new Dependency.Clause<>(kind, 1, Stream.of(id)));
        }
    }

    private record Link(Bundle from, String to) {}

    private record Fragment(List<String> heads, List<Bundle> tails) {
        static Fragment of(String id) {
            return new Fragment(List.of(id), List.of(new Bundle(Dependency.Kind.MUST, 1, List.of(id))));
        }
    }

    private static final String ARROW = "-->";

    private final String text;
    private final List<Link> links = new ArrayList<>();
    private int at;

    private FlowNotation(String text) {
        this.text = text;
    }

    /**
     * Parses a text and returns its edges.
     *
     * @param text a text in arrow notation
     * @return the edges, in the order in which they are written
     * @throws IllegalArgumentException if the text cannot be parsed; the message contains the position, the expected
     *     and the found text
     */
    public static List<PlanEdge> parse(String text) {
        List<PlanEdge> edges = new ArrayList<>();
        for (Link link : read(text)) {
            for (String from : link.from().ids()) {
                edges.add(new PlanEdge(
                        from, link.to(), link.from().kind().text(link.from().needed())));
            }
        }
        return edges;
    }

    /**
     * Adds the dependencies of a text to declared nodes.
     *
     * {@snippet :
     * FlowBuilder<Void> f = FlowPlan.define("build");
     * f.node("compile", compiler::run);
     * f.node("test", tests::run);
     * f.node("package", packager::run);
     * FlowNotation.wire(f, "compile --> (test, docs) --> package");
     * }
     *
     * @param builder a builder that declares all nodes of the text
     * @param text a text in arrow notation
     * @throws IllegalArgumentException if the text cannot be parsed, or has an arrow to a node that was not declared
     */
    public static void wire(FlowBuilder<?> builder, String text) {
        for (Link link : read(text)) {
            Node<?> target = builder.declared(link.to());
            link.from().dependencies().forEach(target::needs);
        }
    }

    private static List<Link> read(String text) {
        FlowNotation notation = new FlowNotation(text);
        notation.skipSeparators();
        while (notation.at < text.length()) {
            notation.chain();
            notation.skipBlanks();
            if (notation.at < text.length() && !notation.isAtSeparator()) {
                throw notation.unexpected("\"-->\", a separator or the end");
            }
            notation.skipSeparators();
        }
        return notation.links;
    }

    private Fragment chain() {
        Fragment first = step();
        Fragment last = first;
        while (takes(ARROW)) {
            Fragment next = step();
            for (String head : next.heads()) {
                for (Bundle bundle : last.tails()) {
                    links.add(new Link(bundle, head));
                }
            }
            last = next;
        }
        return new Fragment(first.heads(), last.tails());
    }

    private Fragment step() {
        skipBlanks();
        int begin = at;
        String word = word();
        skipBlanks();
        if (at == text.length() || text.charAt(at) != '(') {
            if (word.isEmpty()) {
                throw unexpected("an id or \"(\"");
            }
            return Fragment.of(word);
        }
        at++;
        return switch (word) {
            case "", "must" -> list();
            case "any" -> bundled(Dependency.Kind.ANY, 1, list());
            case "optional" -> bundled(Dependency.Kind.OPTIONAL, 1, list());
            case "after" -> bundled(Dependency.Kind.AFTER, 1, list());
            case "atLeast" -> bundled(Dependency.Kind.AT_LEAST, number(), list());
            default -> {
                at = begin;
                throw unexpected("one of any, atLeast, must, optional and after before \"(\"");
            }
        };
    }

    private Fragment list() {
        List<String> heads = new ArrayList<>();
        List<Bundle> tails = new ArrayList<>();
        do {
            Fragment each = chain();
            heads.addAll(each.heads());
            tails.addAll(each.tails());
        } while (takes(","));
        if (!takes(")")) {
            throw unexpected("\"-->\", \",\" or \")\"");
        }
        return new Fragment(heads, tails);
    }

    private static Fragment bundled(Dependency.Kind kind, int needed, Fragment list) {
        List<String> ids =
                list.tails().stream().flatMap(each -> each.ids().stream()).toList();
        return new Fragment(list.heads(), List.of(new Bundle(kind, needed, ids)));
    }

    private int number() {
        skipBlanks();
        int begin = at;
        String word = word();
        try {
            int number = Integer.parseInt(word);
            if (takes(",")) {
                return number;
            }
        } catch (NumberFormatException notOne) {
            at = begin;
        }
        throw unexpected("a number and \",\" after \"atLeast(\"");
    }

    private String word() {
        int begin = at;
        while (at < text.length()
                && "(),;".indexOf(text.charAt(at)) < 0
                && !Character.isWhitespace(text.charAt(at))
                && !text.startsWith(ARROW, at)) {
            at++;
        }
        return text.substring(begin, at);
    }

    private boolean takes(String token) {
        skipBlanks();
        if (!text.startsWith(token, at)) {
            return false;
        }
        at += token.length();
        return true;
    }

    /**
     * Skips white space. A line end is a separator, except inside brackets, before or after an arrow, or after a
     * separator.
     */
    private void skipBlanks() {
        int begin = at;
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        boolean brokenLine = text.substring(begin, at).indexOf('\n') >= 0;
        if (brokenLine && begin > 0 && endsAWord(begin) && !text.startsWith(ARROW, at) && !isInBrackets(begin)) {
            at = begin + text.substring(begin, at).indexOf('\n');
        }
    }

    private boolean endsAWord(int end) {
        return !text.startsWith(ARROW, Math.max(0, end - ARROW.length())) && ",;".indexOf(text.charAt(end - 1)) < 0;
    }

    private boolean isInBrackets(int end) {
        long open = text.substring(0, end).chars().filter(each -> each == '(').count();
        long closed = text.substring(0, end).chars().filter(each -> each == ')').count();
        return open > closed;
    }

    private boolean isAtSeparator() {
        return ",;\n".indexOf(text.charAt(at)) >= 0;
    }

    private void skipSeparators() {
        while (at < text.length() && (isAtSeparator() || Character.isWhitespace(text.charAt(at)))) {
            at++;
        }
    }

    private IllegalArgumentException unexpected(String expected) {
        String found =
                at == text.length() ? "the end" : "\"" + text.substring(at, Math.min(text.length(), at + 10)) + "\"";
        return new IllegalArgumentException(
                "expected " + expected + " at position " + (at + 1) + " of \"" + text + "\", found " + found);
    }
}
