package dev.raddle.spring;

import dev.raddle.group.GroupStats;
import dev.raddle.group.LimitChange;

/** Keeps answers of the endpoint short: keys, names and reasons are texts of users, of any length. */
final class ShortText {

    private static final int LONGEST_KEY = 200;
    private static final int LONGEST_SENTENCE = 1000;

    private ShortText() {}

    static GroupStats of(GroupStats stats) {
        LimitChange change = stats.limitChange();
        String key = key(stats.groupKey());
        return new GroupStats(
                key,
                stats.activeCount(),
                stats.queuedCount(),
                stats.maxConcurrency(),
                stats.queueCapacity(),
                stats.rate(),
                stats.holdLeft(),
                change == null
                        ? null
                        : new LimitChange(key, change.before(), change.after(), sentence(change.reason())),
                stats.permits(),
                stats.paused(),
                stats.breaker());
    }

    static String key(String text) {
        return shortened(text, LONGEST_KEY);
    }

    static String sentence(String text) {
        return shortened(text, LONGEST_SENTENCE);
    }

    private static String shortened(String text, int longest) {
        return text.length() <= longest
                ? text
                : text.substring(0, longest) + "… and " + (text.length() - longest) + " more characters";
    }
}
