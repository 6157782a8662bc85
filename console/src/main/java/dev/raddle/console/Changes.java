package dev.raddle.console;

import dev.raddle.task.OwnerChange;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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
                case "console" -> from + " in the console";
                case "resolver" -> "a resolver of the policy";
                case "adaptive" -> "itself (it is adaptive)";
                case "breaker" -> "its breaker";
                default -> "the program";
            };
        }
    }

    private record Limit(String executor, @Nullable String key) {}

    private final Deque<Row> rows = new ArrayDeque<>(); // the latest first; guarded by this
    private final AtomicLong ids = new AtomicLong();
    private final Map<Limit, Integer> adapted = Failures.newest(MOST_ADAPTIVE); // at the last row; guarded by this

    /** Adds what a listener was notified of, without small steps of a limit that adapts. */
    void add(String executor, OwnerChange change, long now) {
        boolean adapts = change.isAdaptive() && change.kind() == OwnerChange.Kind.LIMIT;
        String before = adapts ? adaptedFrom(executor, change) : change.before();
        if (adapts && before == null) {
            return;
        }
        String user = USER.isBound() && !change.isAdaptive() ? USER.get() : null;
        String who = adapts ? "adaptive" : change.isAdaptive() ? "breaker" : user == null ? "program" : "console";
        String what = change.kind().name().toLowerCase(Locale.ROOT);
        String key = change.owner();
        add(new Row(ids.incrementAndGet(), now, who, user, what, executor, key, before, change.after()));
    }

    /** Returns the limit at the last row of one that adapts, or null if the step from there is a small one. */
    private synchronized @Nullable String adaptedFrom(String executor, OwnerChange change) {
        Limit limit = new Limit(executor, change.owner());
        int before = adapted.computeIfAbsent(limit, _ -> Integer.parseInt(String.valueOf(change.before())));
        int after = Integer.parseInt(String.valueOf(change.after()));
        if (after < before * LARGE_STEP && after * LARGE_STEP > before) {
            return null;
        }
        adapted.put(limit, after);
        return Integer.toString(before);
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

    /** Returns the latest change of a group, or of its executor if the key is null; null if there is none. */
    @Nullable
    Row latest(String executor, @Nullable String key, String what) {
        List<Row> found = latest(
                1, row -> row.what.equals(what) && row.executor.equals(executor) && Objects.equals(row.key, key));
        return found.isEmpty() ? null : found.getFirst();
    }
}
