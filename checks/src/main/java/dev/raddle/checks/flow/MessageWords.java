package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks that a message contains the expected words. */
final class MessageWords {

    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}_.-]*[\\p{L}\\p{N}_]");

    private MessageWords() {}

    private static List<String> of(String message) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(message);
        while (matcher.find()) {
            words.add(matcher.group());
        }
        return words;
    }

    /** Returns whether the message contains the word as a whole word. */
    static boolean contains(String message, String word) {
        return of(message).contains(word);
    }

    /**
     * Returns the first expected part that is missing in the report of an invalid plan, or null. An id must occur as a
     * whole word, other words in any form. After "cycle" the ids must occur in the order of the path, which may begin
     * at any of them.
     */
    static String missing(List<String> expected, String message, Set<String> ids) {
        for (String word : expected) {
            boolean present = ids.contains(word)
                    ? contains(message, word)
                    : message.toLowerCase(Locale.ROOT).contains(word.toLowerCase(Locale.ROOT));
            if (!present) {
                return "\"" + word + "\"";
            }
        }
        boolean cycle = !expected.isEmpty() && expected.getFirst().equalsIgnoreCase("cycle");
        List<String> path = cycle ? expected.stream().filter(ids::contains).toList() : List.of();
        return path.size() < 2 || isPath(path, of(message)) ? null : "the path " + String.join(", ", path);
    }

    private static boolean isPath(List<String> path, List<String> words) {
        for (int first = 0; first < path.size(); first++) {
            int next = 0;
            for (String word : words) {
                if (next < path.size() && word.equals(path.get((first + next) % path.size()))) {
                    next++;
                }
            }
            if (next == path.size()) {
                return true;
            }
        }
        return false;
    }
}
