package dev.raddle.console;

import java.util.ArrayList;
import java.util.List;
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
 * @param holders who has what is waited for
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
        @Nullable List<Holder> holders,
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

    /**
     * A running task.
     *
     * @param same the number of running tasks with an equal stack; null if there is one
     */
    record Task(
            String name,
            String executor,
            String group,
            Link link,
            @Nullable Long sinceAt,
            int slots,
            @Nullable Integer same,
            @Nullable String stack) {}

    private record Name(String name, @Nullable Link link) {}

    private record Since(long sinceAt) {}

    private record Until(long untilAt) {}

    private record At(long at) {}

    private record Length(long millis) {}

    /** The parts of a finding, one after the other. */
    static final class Draft {
        final String kind;
        final Level level;
        private final String id;
        private final List<Object> sentence = new ArrayList<>();
        private @Nullable Long sinceAt;
        private @Nullable Link link;
        private @Nullable List<Holder> holders;
        private @Nullable List<Task> tasks;
        private @Nullable String stack;

        Draft(String kind, Level level, String id) {
            this.kind = kind;
            this.level = level;
            this.id = kind + " " + id;
        }

        Draft text(String text) {
            sentence.add(text);
            return this;
        }

        Draft name(String name, @Nullable Link to) {
            sentence.add(new Name(Failures.cut(name), to));
            return this;
        }

        Draft since(@Nullable Long at) {
            sentence.add(at == null ? "an unknown time" : new Since(at));
            return this;
        }

        Draft until(long at) {
            sentence.add(new Until(at));
            return this;
        }

        Draft at(long at) {
            sentence.add(new At(at));
            return this;
        }

        Draft millis(long length) {
            sentence.add(new Length(length));
            return this;
        }

        Draft beganAt(@Nullable Long at) {
            sinceAt = at;
            return this;
        }

        Draft link(Link to) {
            link = to;
            return this;
        }

        Draft holders(List<Holder> all) {
            holders = all.isEmpty() ? null : all;
            return this;
        }

        Draft tasks(List<Task> all, @Nullable String shared) {
            tasks = all.isEmpty() ? null : all;
            stack = shared;
            return this;
        }

        Finding done() {
            return new Finding(id, kind, level, List.copyOf(sentence), sinceAt, link, holders, tasks, stack);
        }
    }

    /** Returns a number and its unit: "1 task", "2,000 tasks". */
    static String counted(long number, String unit) {
        return "%,d %s%s".formatted(number, unit, number == 1 ? "" : "s");
    }

    /** Returns the sentence as a text, with moments in milliseconds. */
    String text() {
        StringBuilder text = new StringBuilder();
        for (Object part : sentence) {
            text.append(
                    switch (part) {
                        case Name name -> "\"" + name.name + "\"";
                        case Since since -> "[since " + since.sinceAt + "]";
                        case Until until -> "[until " + until.untilAt + "]";
                        case At at -> "[at " + at.at + "]";
                        case Length length -> length.millis + " ms";
                        default -> part;
                    });
        }
        return text.toString();
    }
}
