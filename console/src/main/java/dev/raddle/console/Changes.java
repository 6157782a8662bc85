package dev.raddle.console;

import dev.raddle.task.OwnerChange;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The latest changes of limits: by the program, a console, a resolver, a limit that adapts, or a breaker. */
final class Changes {

    private static final int MOST_ROWS = 500;
    private static final long RECENT = 3_600_000; // milliseconds
    private static final int MOST_ADAPTIVE = 1_000;
    private static final double LARGE_STEP = 2; // smaller steps of an adaptive limit add up to one

    /** Who uses a control of a console in the calling thread: the change is notified there. */
    static final ScopedValue<String> USER = ScopedValue.newInstance();

    /**
     * A change.
     *
     * @param from the user of the console
     * @param key the key of the group, or null if it is one of the whole executor
     */
    record Row(
            long id,
            long at,
            String who,
            @Nullable String from,
            String what,
            String executor,
            @Nullable String key,
            @Nullable String before,
            @Nullable String after) {

        boolean isOf(String otherExecutor, @Nullable String otherKey) {
            return executor.equals(otherExecutor) && (key == null || key.equals(otherKey));
        }

        boolean isRecent(long now) {
            return now - at < RECENT;
        }

        String by() {
            return switch (who) {
                case "console" -> "the console, by " + from;
                case "resolver" -> "a resolver of the policy";
                case "adaptive" -> "itself, as it is adaptive";
                case "breaker" -> "its breaker";
                default -> "the program";
            };
        }
    }

    private record Limit(String executor, @Nullable String key) {}

    private final Deque<Row> rows = new ArrayDeque<>(); // the latest first; guarded by this
    private final AtomicLong ids = new AtomicLong();

    @SuppressWarnings("serial")
    private final Map<Limit, Integer> adapted = new LinkedHashMap<>() { // at the last row; guarded by this
                @Override
                protected boolean removeEldestEntry(Map.Entry<Limit, Integer> eldest) {
                    return size() > MOST_ADAPTIVE;
                }
            };

    /** Adds what a listener was notified of. */
    void add(String executor, OwnerChange change, long now) {
        if (change.isAdaptive() && change.kind() == OwnerChange.Kind.LIMIT) {
            addAdaptive(executor, change, now);
            return;
        }
        String user = USER.isBound() ? USER.get() : null;
        String what = change.kind().name().toLowerCase(Locale.ROOT);
        String who = change.isAdaptive() ? "breaker" : user == null ? "program" : "console";
        add(new Row(
                ids.incrementAndGet(),
                now,
                who,
                user,
                what,
                executor,
                change.owner(),
                change.before(),
                change.after()));
    }

    private synchronized void addAdaptive(String executor, OwnerChange change, long now) {
        Limit limit = new Limit(executor, change.owner());
        int before = adapted.computeIfAbsent(limit, _ -> Integer.parseInt(String.valueOf(change.before())));
        int after = Integer.parseInt(String.valueOf(change.after()));
        if (after >= before * LARGE_STEP || after * LARGE_STEP <= before) {
            adapted.put(limit, after);
            String text = Integer.toString(before);
            add(new Row(
                    ids.incrementAndGet(),
                    now,
                    "adaptive",
                    null,
                    "limit",
                    executor,
                    change.owner(),
                    text,
                    change.after()));
        }
    }

    /** Adds a limit that is not what it was, although no change was notified: it was looked up again. */
    void addResolved(
            String executor, String key, String what, @Nullable String before, @Nullable String after, long now) {
        add(new Row(ids.incrementAndGet(), now, "resolver", null, what, executor, key, before, after));
    }

    private synchronized void add(Row row) {
        rows.addFirst(row);
        if (rows.size() > MOST_ROWS) {
            rows.removeLast();
        }
    }

    synchronized List<Row> latest(int most, Predicate<Row> shown) {
        return rows.stream().filter(shown).limit(most).toList();
    }

    /** Returns the latest change of a limit of a group or of its executor, or null. */
    @Nullable
    Row latest(String executor, @Nullable String key, String what) {
        List<Row> found = latest(1, row -> row.what.equals(what) && row.isOf(executor, key));
        return found.isEmpty() ? null : found.getFirst();
    }
}
