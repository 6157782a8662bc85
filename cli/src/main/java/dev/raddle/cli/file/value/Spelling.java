package dev.raddle.cli.file.value;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Finds the allowed word that was probably meant. */
public final class Spelling {
    private Spelling() {}

    /** Returns the nearest allowed word, if it is near enough to be meant. */
    static Optional<String> nearest(String word, Collection<String> allowed) {
        String best = null;
        int bestDistance = Math.min(3, (word.length() + 1) / 3) + 1;
        for (String candidate : allowed) {
            int distance = distance(word.toLowerCase(Locale.ROOT), candidate.toLowerCase(Locale.ROOT));
            if (distance < bestDistance) {
                best = candidate;
                bestDistance = distance;
            }
        }
        return Optional.ofNullable(best);
    }

    /** Returns the text " did you mean …?", or an empty text. */
    public static String hint(String word, Collection<String> allowed) {
        return nearest(word, allowed)
                .map(guess -> "; did you mean \"" + guess + "\"?")
                .orElse("");
    }

    /** Returns how many letters must be inserted, removed, replaced or swapped with their neighbour. */
    private static int distance(String from, String to) {
        int[][] cost = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                int replaced = cost[i - 1][j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                cost[i][j] = Math.min(replaced, Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
                }
            }
        }
        return cost[from.length()][to.length()];
    }
}
