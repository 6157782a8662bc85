package dev.raddle.console;

import static dev.raddle.console.Finding.counted;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The watched services that keep runs in a database. */
final class Durable implements Subject {

    /*
     * Overview.
     *
     * A database may have a million runs, and may be away. So no thread of the console waits for it: what a view shows
     * is a Reading for this view, one page of the list or one run. A service has the readings of the views that were
     * looked at last, and executes one of them at a time, in one connection. Another reading, made less often while any
     * page is open, is the number of runs that are stuck, for the menu.
     *
     * Requests of users are executed in threads of their own, too, a few at a time. One that is not answered in time is
     * interrupted: it may have been stored or not, and the answer says so.
     */

    /** A service, and its database. All methods but the first two may block, and throw. */
    interface Source {
        boolean isClosed();

        /** Returns whether the database has answered the service last. */
        boolean isUp();

        /** Returns the number of runs that do not go on without a person, up to a limit. */
        int stuck();

        Page page(View view);

        /** Returns a run as the page reads it, or null if there is none. */
        @Nullable
        Map<String, Object> run(String id);

        /** Does what a client asks for, and returns a sentence about it. */
        String apply(String action, String run, String node, @Nullable String text);
    }

    /** A run in the list. If it waits until a moment, the reason is left out. */
    record RunRow(
            String flow,
            String version,
            String state,
            @Nullable String why,
            @Nullable Long untilAt,
            @Nullable String worker,
            long createdAt,
            @Nullable Long endedAt) {}

    /** A schedule. Without a next moment it is paused. */
    record ScheduleRow(
            String flow,
            String cron,
            @Nullable Long nextAt,
            @Nullable String why) {}

    /**
     * Runs, those first that need a person, and the newest first among these.
     *
     * @param counts the numbers of runs by their states, among the newest
     * @param isCut whether there are more runs than those that were counted
     * @param next the cursor of the next page, or null if there is none
     * @param schedules all schedules, by their names
     */
    record Page(
            Map<String, Integer> counts,
            boolean isCut,
            List<String> order,
            Map<String, RunRow> rows,
            @Nullable String next,
            Map<String, ScheduleRow> schedules) {}

    /**
     * What the page shows of the runs of one service.
     *
     * @param stuck the numbers of stuck runs of those services that have some
     */
    record Rows(
            List<String> services,
            Map<String, Integer> stuck,
            @Nullable String service,
            @Nullable Page page,
            Reading.@Nullable Problem problem) {}

    record Summary(int count, int down, int stuck) {}

    private static final Duration SHORTEST_REST = Duration.ofSeconds(1);
    private static final Duration REST_OF_SUMMARY = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int MOST_READINGS = 100;
    private static final int MOST_REQUESTS = 4; // that have not been answered, of one service

    private static final class Watching {
        final Source source;
        final Reading<Integer> stuck;
        final Semaphore requests = new Semaphore(MOST_REQUESTS);
        private final ReentrantLock turn = new ReentrantLock(true); // of one reading after the other
        private final Map<View, Reading<?>> readings = Failures.newest(MOST_READINGS); // guarded by itself

        Watching(Source source) {
            this.source = source;
            this.stuck = reading(REST_OF_SUMMARY, source::stuck);
        }

        private <T> Reading<T> reading(Duration rest, Supplier<T> work) {
            return new Reading<>(rest, _ -> {
                try {
                    turn.lockInterruptibly();
                } catch (InterruptedException late) {
                    throw new IllegalStateException("other readings are slow", late);
                }
                try {
                    return work.get();
                } finally {
                    turn.unlock();
                }
            });
        }

        @SuppressWarnings("unchecked") // a view has readings of one type
        <T> Reading<T> of(View view, Supplier<T> work) {
            synchronized (readings) {
                return (Reading<T>) readings.computeIfAbsent(view, _ -> reading(SHORTEST_REST, work));
            }
        }

        void expire() {
            synchronized (readings) {
                readings.values().forEach(Reading::expire);
            }
            stuck.expire();
        }
    }

    private final ConcurrentSkipListMap<String, Watching> services = new ConcurrentSkipListMap<>();

    Console.Watch add(String name, Source source) {
        Watching added = new Watching(source);
        services.put(name, added);
        return () -> services.remove(name, added);
    }

    private void forgetClosed() {
        services.values().removeIf(service -> service.source.isClosed());
    }

    @Override
    public Summary summary(long now) {
        forgetClosed();
        int down = 0;
        for (Watching service : services.values()) {
            down += service.source.isUp() && service.stuck.problem(now) == null ? 0 : 1;
        }
        int all = stuck(now).values().stream().mapToInt(Integer::intValue).sum();
        return new Summary(services.size(), down, all);
    }

    @Override
    public int watched() {
        return services.size();
    }

    @Override
    public void findWrong(long now, Findings found) {
        Summary summary = summary(now);
        Link link = Link.to("durable");
        if (summary.stuck > 0) {
            String runs = counted(summary.stuck, "durable run needs", "durable runs need");
            found.add(new Draft("run", Level.stuck, "durable", null, link)
                    .say("{} a person.", runs)
                    .done());
        }
        if (summary.down > 0) {
            String services = counted(summary.down, "service");
            found.add(new Draft("down", Level.stuck, "durable", null, link)
                    .say("The database of {} of durable runs does not answer.", services)
                    .done());
        }
    }

    private Map<String, Integer> stuck(long now) {
        Map<String, Integer> stuck = new LinkedHashMap<>();
        services.forEach((name, service) -> {
            Integer found = service.stuck.last(now);
            if (found != null && found > 0) {
                stuck.put(name, found);
            }
        });
        return stuck;
    }

    /** Returns a page of the runs of one service. */
    Rows rows(View view, long now) {
        forgetClosed();
        List<String> names = List.copyOf(services.keySet());
        String wanted = view.text("service");
        String name = names.contains(wanted) || names.isEmpty() ? wanted : names.getFirst();
        Watching service = services.get(name);
        if (service == null) {
            return new Rows(names, stuck(now), null, null, null);
        }
        Reading<Page> reading = service.of(view, () -> service.source.page(view));
        return new Rows(names, stuck(now), name, reading.last(now), reading.problem(now));
    }

    /** Returns one run with its nodes and its journal. */
    Map<String, Object> detail(View view, long now) {
        forgetClosed();
        Map<String, Object> data = new LinkedHashMap<>();
        Watching service = services.get(view.text("service"));
        if (service == null) {
            data.put("missing", "service");
            return data;
        }
        Reading<Map<String, Object>> reading = service.of(view, () -> runOrNothing(service.source, view.text("id")));
        Map<String, Object> last = reading.last(now);
        Reading.Problem problem = reading.problem(now);
        if (last != null) {
            data.putAll(last);
        }
        if (problem != null) {
            data.put("problem", problem);
        }
        return data;
    }

    private static Map<String, Object> runOrNothing(Source source, String id) {
        Map<String, Object> run = source.run(id);
        return run == null ? Map.of("missing", "run") : run;
    }

    /** Does what a client asks for, in a thread of its own, and returns a sentence about it. */
    String apply(String name, String action, String run, String node, @Nullable String text) {
        forgetClosed();
        Watching service = services.get(name);
        if (service == null) {
            throw new Refusal(404, "there is no such service");
        }
        if (!service.requests.tryAcquire()) {
            throw new Refusal(503, "the database has not answered earlier requests yet; this one was not sent");
        }
        FutureTask<String> task = new FutureTask<>(() -> service.source.apply(action, run, node, text));
        Thread.ofPlatform().daemon().name("raddle-console-request").start(() -> {
            try {
                task.run();
            } finally {
                service.requests.release();
            }
        });
        try {
            return task.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException failure) {
            throw refusalOf(failure.getCause());
        } catch (TimeoutException late) {
            throw new Refusal(
                    504,
                    "the database has not answered within " + PATIENCE.toSeconds()
                            + " s; the request may have been stored: look at the run before you repeat it");
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            throw new Refusal(503, "the console is being closed; the request may have been stored");
        } finally {
            task.cancel(true);
            service.expire();
        }
    }

    private static Refusal refusalOf(@Nullable Throwable failure) {
        String text = Failures.cut(failure == null ? "" : String.valueOf(failure.getMessage()));
        return switch (failure) {
            case Refusal refusal -> refusal;
            case IllegalArgumentException _ -> new Refusal(400, text);
            case NoSuchElementException _ -> new Refusal(404, text);
            case null, default -> new Refusal(503, Failures.cut(UserCode.textOf(failure)));
        };
    }
}
