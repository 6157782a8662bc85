package dev.raddle.console;

import static dev.raddle.console.Finding.counted;
import static dev.raddle.console.Finding.name;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import dev.raddle.time.UserCode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The failures of tasks by their kind: the type of the exception and its message without numbers. */
final class Failures implements Subject {

    private static final int MOST_KINDS = 200;
    private static final int MOST_OWNERS = 50; // of a kind
    private static final int SHOWN_OWNERS = 5;
    private static final int LONGEST_MESSAGE = 1_000;
    private static final int MOST_CAUSES = 5;
    private static final int MANY = 10; // in a minute

    private record KindKey(String type, String message) {}

    /** A group of an executor, or another API's owner of tasks. */
    private record Owner(String source, String name) {
        @Override
        public String toString() {
            return source.equals(name) ? name : source + " / " + name;
        }
    }

    /** A kind. Guarded by the failures. */
    private static final class Kind {
        final String id;
        final String type;
        final String stack;
        final long firstAt;
        final Map<Owner, Boolean> owners = newest(MOST_OWNERS);
        String message = "";
        long count;
        long lastAt;
        long minute; // the current one
        int inMinute;
        int inMinuteBefore;

        Kind(String id, String type, String stack, long firstAt) {
            this.id = id;
            this.type = type;
            this.stack = stack;
            this.firstAt = firstAt;
        }

        void turnTo(long now) {
            if (now != minute) {
                inMinuteBefore = now == minute + 1 ? inMinute : 0;
                inMinute = 0;
                minute = now;
            }
        }

        Row row() {
            List<String> names =
                    owners.keySet().stream().map(Owner::toString).toList().reversed();
            return new Row(
                    type,
                    message,
                    count,
                    firstAt,
                    lastAt,
                    List.copyOf(names.subList(0, Math.min(SHOWN_OWNERS, names.size()))),
                    stack);
        }
    }

    record Row(String type, String message, long count, long firstAt, long lastAt, List<String> owners, String stack) {}

    /** The kinds that a client sees, the latest first. */
    record Rows(List<String> order, Map<String, Row> rows) {}

    record Summary(int kinds) {}

    private final Map<KindKey, Kind> kinds = newest(MOST_KINDS); // guarded by this
    private long ids; // guarded by this

    /** Returns a map that keeps the entries that were used last. */
    static <K, V> Map<K, V> newest(int most) {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > most;
            }
        };
    }

    void add(String source, String owner, Throwable error, long at) {
        String type = error.getClass().getName();
        String message = messageOf(error);
        KindKey key = new KindKey(type, message.replaceAll("[0-9]+", "#"));
        synchronized (this) {
            Kind known = kinds.get(key);
            if (known != null) {
                note(known, source, owner, message, at);
                return;
            }
        }
        String stack = stackOf(error); // long, and calls user code
        synchronized (this) {
            Kind kind = kinds.computeIfAbsent(key, made -> new Kind("e" + ++ids, type, stack, at));
            note(kind, source, owner, message, at);
        }
    }

    private void note(Kind kind, String source, String owner, String message, long at) {
        kind.count++;
        kind.turnTo(at / 60_000);
        kind.inMinute++;
        kind.message = message;
        kind.lastAt = Math.max(kind.lastAt, at);
        kind.owners.put(new Owner(source, owner), true);
    }

    @Override
    public synchronized Summary summary(long now) {
        return new Summary(kinds.size());
    }

    @Override
    public int watched() {
        return 0; // those of others
    }

    /** Adds the kinds with many failures in this minute, and at least three times as many as in the last one. */
    @Override
    public synchronized void findWrong(long now, Findings found) {
        Link link = Link.to("failures");
        for (Kind kind : kinds.values()) {
            kind.turnTo(now / 60_000);
            if (kind.inMinute >= MANY && kind.inMinute >= 3 * kind.inMinuteBefore) {
                String message = kind.type.substring(kind.type.lastIndexOf('.') + 1) + ": " + kind.message;
                Draft draft = new Draft("failures", Level.slow, kind.id, kind.minute * 60_000, link);
                draft.say("{} in the last minute, and ", counted(kind.inMinute, "failure"));
                draft.say("{} in the one before: {}", kind.inMinuteBefore, name(message, link));
                found.add(draft.done());
            }
        }
    }

    Rows all(View view) {
        return rows(kind -> view.admits(kind.type, kind.message)
                || kind.owners.keySet().stream().anyMatch(owner -> view.admits(owner.toString())));
    }

    Rows ofOwner(String source, String name) {
        Owner owner = new Owner(source, name);
        return rows(kind -> kind.owners.containsKey(owner));
    }

    private synchronized Rows rows(Predicate<Kind> shown) {
        Map<String, Row> rows = new LinkedHashMap<>();
        for (Kind kind : List.copyOf(kinds.values()).reversed()) { // the latest first
            if (shown.test(kind)) {
                rows.put(kind.id, kind.row());
            }
        }
        return new Rows(List.copyOf(rows.keySet()), rows);
    }

    /** Returns the message of an exception, cut if it is long. */
    private static String messageOf(Throwable error) {
        return cut(UserCode.textOf(new Object() {
            @Override
            public String toString() {
                return String.valueOf(error.getMessage());
            }
        }));
    }

    /** Returns an exception as text, in one line. */
    static String lineOf(Throwable error) {
        return cut(UserCode.textOf(error));
    }

    static String cut(String text) {
        if (text.length() <= LONGEST_MESSAGE) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(LONGEST_MESSAGE - 1)) ? LONGEST_MESSAGE - 1 : LONGEST_MESSAGE;
        return text.substring(0, end) + "…";
    }

    private static String stackOf(Throwable error) {
        StringBuilder text = new StringBuilder();
        Throwable each = error;
        for (int i = 0; each != null && i < MOST_CAUSES; i++) {
            text.append(i == 0 ? "" : "Caused by: ").append(lineOf(each)).append('\n');
            text.append(Stack.textOf(List.of(each.getStackTrace())));
            each = causeOf(each);
        }
        return text.toString();
    }

    private static @Nullable Throwable causeOf(Throwable error) {
        try {
            return error.getCause();
        } catch (RuntimeException userCode) {
            return null;
        }
    }
}
