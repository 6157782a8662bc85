package dev.raddle.console;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a client looks at. Equal views are computed once.
 *
 * @param kind the screen
 * @param parameters the parameters, without those that are empty
 */
record View(Kind kind, Map<String, String> parameters) {

    /** The screens. */
    enum Kind {
        WRONG,
        RUNNING,
        GROUPS,
        GROUP,
        FLOWS,
        FLOW,
        FAILURES,
        POOLS,
        SCOPES,
        FLEET,
        DURABLE,
        STORED,
        AUDIT
    }

    private static final Set<String> KNOWN = Set.of(
            "sort",
            "filter",
            "page",
            "size",
            "stopped",
            "executor",
            "key",
            "id",
            "failed",
            "service",
            "state",
            "flow",
            "after");
    private static final int LONGEST_FILTER = 200;

    /** What the page writes for half of a surrogate pair, for which an address has no form. */
    private static final Pattern HALF = Pattern.compile("\uFFFE([0-9a-f]{4})");

    View {
        parameters = Map.copyOf(parameters);
    }

    /** Returns the view of a query such as {@code view=groups&sort=oldest}. */
    static View of(Map<String, String> query) {
        Map<String, String> parameters = new HashMap<>(query);
        String name = parameters.remove("view");
        parameters.keySet().retainAll(KNOWN);
        for (Kind kind : Kind.values()) {
            if (kind.name().toLowerCase(Locale.ROOT).equals(name)) {
                View view = new View(kind, parameters);
                view.number("page", 0, 0, Integer.MAX_VALUE);
                view.number("size", 1, 1, Integer.MAX_VALUE);
                if (view.text("filter").length() > LONGEST_FILTER) {
                    throw new Refusal(400, "the filter must have at most " + LONGEST_FILTER + " characters");
                }
                return view;
            }
        }
        throw new Refusal(400, "there is no such view");
    }

    /** Returns the parameters of a query without those that are empty. */
    static Map<String, String> query(@Nullable String raw) {
        Map<String, String> query = new HashMap<>();
        for (String each : (raw == null ? "" : raw).split("&", -1)) {
            int equals = each.indexOf('=');
            if (equals > 0 && equals < each.length() - 1) {
                query.put(each.substring(0, equals), decoded(each.substring(equals + 1)));
            }
        }
        return query;
    }

    private static String decoded(String text) {
        try {
            return HALF.matcher(URLDecoder.decode(text, StandardCharsets.UTF_8))
                    .replaceAll(half -> String.valueOf((char) Integer.parseInt(half.group(1), 16)));
        } catch (IllegalArgumentException malformed) {
            throw new Refusal(400, "the query has a broken escape sequence");
        }
    }

    String text(String name) {
        return parameters.getOrDefault(name, "");
    }

    boolean isSet(String name) {
        return text(name).equals("true");
    }

    /** Returns whether a text contains the filter, in letters of either case. */
    boolean admits(String... texts) {
        String filter = text("filter").toLowerCase(Locale.ROOT);
        for (String text : texts) {
            if (text.toLowerCase(Locale.ROOT).contains(filter)) {
                return true;
            }
        }
        return false;
    }

    int number(String name, int otherwise, int least, int most) {
        String text = text(name);
        try {
            int number = text.isEmpty() ? otherwise : Integer.parseInt(text);
            if (number >= least) {
                return Math.min(number, most);
            }
        } catch (NumberFormatException notANumber) {
            // answered below
        }
        throw new Refusal(400, name + " must be a whole number of at least " + least);
    }
}
