package dev.raddle.console;

import static dev.raddle.console.Finding.name;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Length;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** How long the tasks of some owners have run, in each of the last minutes. */
final class RunTimes {

    private static final int MOST_OWNERS = 32; // the first ones
    private static final int MINUTES = 12;
    private static final int FEWEST = 5; // tasks in a minute that count
    private static final long AGO = 10; // minutes
    private static final double MUCH = 2;
    private static final double SHORTEST_MILLIS = 5; // what is shorter is not slow

    private static final class Minute {
        volatile long number = -1;
        final LongAdder count = new LongAdder();
        final LongAdder nanos = new LongAdder();

        double millis() {
            return nanos.sum() / 1e6 / Math.max(1, count.sum());
        }
    }

    private static final class Times {
        final Minute[] minutes = new Minute[MINUTES];

        Times() {
            for (int i = 0; i < MINUTES; i++) {
                minutes[i] = new Minute();
            }
        }

        /**
         * Returns a minute for adding to it. The first task of a minute may miss another one's, which does not matter.
         */
        Minute of(long number) {
            Minute minute = minutes[(int) (number % MINUTES)];
            if (minute.number != number) {
                synchronized (this) {
                    if (minute.number != number) {
                        minute.count.reset();
                        minute.nanos.reset();
                        minute.number = number;
                    }
                }
            }
            return minute;
        }

        /** Returns the latest minute in a range in which enough tasks have run, or null. */
        @Nullable
        Minute find(long latest, long earliest) {
            for (long number = latest; number >= earliest; number--) {
                Minute minute = minutes[(int) (number % MINUTES)];
                if (minute.number == number && minute.count.sum() >= FEWEST) {
                    return minute;
                }
            }
            return null;
        }
    }

    private final Map<String, Times> byOwner = new ConcurrentHashMap<>();

    void add(String owner, long nanos) {
        add(owner, nanos, System.currentTimeMillis());
    }

    void add(String owner, long nanos, long now) {
        Times times = byOwner.get(owner);
        if (times == null && byOwner.size() < MOST_OWNERS) {
            times = byOwner.computeIfAbsent(owner, _ -> new Times());
        }
        if (times != null) {
            Minute minute = times.of(now / 60_000);
            minute.count.increment();
            minute.nanos.add(nanos);
        }
    }

    /** Returns the owner whose tasks take so many times as long as ten minutes ago, as a finding, or null. */
    @Nullable
    Finding slower(String executor, long now) {
        long minute = now / 60_000;
        Finding worst = null;
        double longest = SHORTEST_MILLIS;
        for (Map.Entry<String, Times> each : byOwner.entrySet()) {
            Minute current = each.getValue().find(minute, minute - 1);
            Minute before = each.getValue().find(minute - AGO, minute - AGO - 1);
            if (current != null
                    && before != null
                    && current.millis() > longest
                    && current.millis() >= MUCH * Math.max(0.001, before.millis())) {
                longest = current.millis();
                worst = finding(executor, each.getKey(), before, current);
            }
        }
        return worst;
    }

    private static Finding finding(String executor, String owner, Minute before, Minute current) {
        Link link = Link.ofGroup(executor, owner);
        return new Draft("slower", Level.slow, executor, before.number * 60_000, link)
                .say("The tasks of group {} of {} take {} now;", name(owner, link), executor, lengthOf(current))
                .say(" ten minutes ago they took {}.", lengthOf(before))
                .done();
    }

    private static Length lengthOf(Minute minute) {
        return new Length(Math.round(minute.millis()));
    }
}
