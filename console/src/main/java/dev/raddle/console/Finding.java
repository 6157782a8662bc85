package dev.raddle.console;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One thing that is wrong, as a sentence.
 *
 * @param id the same as long as it is the same finding
 * @param kind what it is about
 * @param sentence texts, and parts of the records below
 * @param sinceAt since when; null if that is unknown
 * @param link the screen that shows more
 * @param tasks the running tasks that matter, longest first
 * @param stack the stack that these share
 */
record Finding(
        String id,
        String kind,
        Level level,
        List<Object> sentence,
        @Nullable Long sinceAt,
        @Nullable Link link,
        @Nullable List<Task> tasks,
        @Nullable String stack) {

    /** How bad it is, the worst first. */
    enum Level {
        stuck, // does not go on by itself
        slow,
        note
    }

    /** A screen of the page, with its parameters. */
    record Link(String view, Map<String, String> params) {
        static Link ofGroup(String executor, String key) {
            return new Link("group", Map.of("executor", executor, "key", key));
        }

        static Link to(String view) {
            return new Link(view, Map.of());
        }
    }

    /**
     * A group, or a class of groups with similar keys, that holds slots of a cap.
     *
     * @param groups the number of groups of a class; null for one group
     */
    record Holder(
            String name,
            @Nullable Link link,
            int slots,
            double share,
            int weight,
            @Nullable Integer groups) {}

    /** A running task. */
    record Task(
            String name,
            String executor,
            String key,
            String ref,
            @Nullable Long sinceAt,
            int slots) {
        Link link() {
            return Link.ofGroup(executor, key);
        }
    }

    // Parts of a sentence.

    private record Name(String name, @Nullable Link link) {}

    private record Since(long sinceAt) {}

    record Until(long untilAt) {}

    record At(long at) {}

    record Length(long millis) {}

    static Object name(String name, @Nullable Link to) {
        return new Name(Failures.cut(name), to);
    }

    static Object since(@Nullable Long at) {
        return at == null ? "an unknown time" : new Since(at);
    }

    /** Returns a number and its unit: "1 task", "2,000 tasks". */
    static String counted(long number, String unit) {
        return counted(number, unit, unit + "s");
    }

    static String counted(long number, String one, String many) {
        return numeral(number) + " " + (number == 1 ? one : many);
    }

    /** Returns a number as English has it, whatever the locale: "2,000". */
    static String numeral(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** A finding that is being written. */
    static final class Draft {
        private final String kind;
        private final Level level;
        private final String id;
        private final @Nullable Long sinceAt;
        private final @Nullable Link link;
        private final List<Object> sentence = new ArrayList<>();
        private @Nullable List<Task> tasks;
        private @Nullable String stack;

        Draft(String kind, Level level, String id, @Nullable Long sinceAt, @Nullable Link link) {
            this.kind = kind;
            this.level = level;
            this.id = kind + " " + id;
            this.sinceAt = sinceAt;
            this.link = link;
        }

        /** Adds a text, in which each {@code {}} stands for a part: a text, a number or one of the records above. */
        Draft say(String text, Object... parts) {
            String[] texts = text.split("\\{}", -1);
            for (int i = 0; i < texts.length; i++) {
                sentence.add(texts[i]);
                if (i < texts.length - 1) {
                    sentence.add(parts[i] instanceof Number number ? numeral(number.longValue()) : parts[i]);
                }
            }
            sentence.removeIf(""::equals);
            return this;
        }

        Draft tasks(List<Task> all, @Nullable String shared) {
            tasks = all.isEmpty() ? null : all;
            stack = shared;
            return this;
        }

        Finding done() {
            return new Finding(id, kind, level, List.copyOf(sentence), sinceAt, link, tasks, stack);
        }
    }
}
