package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Does a message say what it has to say? */
final class Words {

    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}_.-]*[\\p{L}\\p{N}_]");

    private Words() {}

    private static List<String> of(String message) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(message);
        while (matcher.find()) {
            words.add(matcher.group());
        }
        return words;
    }

    /** Is that word in the message, as a word? */
    static boolean holds(String message, String word) {
        return of(message).contains(word);
    }

    /**
     * Returns what is missing in a report of an invalid plan, or null. An id has to be there as a word of its own, others in
     * any form. After "cycle" the ids have to come in the order of the path, wherever in the circle that begins.
     */
    static String missing(List<String> expected, String message, Set<String> ids) {
        for (String word : expected) {
            boolean there = ids.contains(word)
                    ? holds(message, word)
                    : message.toLowerCase(Locale.ROOT).contains(word.toLowerCase(Locale.ROOT));
            if (!there) {
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
