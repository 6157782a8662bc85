package dev.raddle.micrometer;

import dev.raddle.redis.FleetStats;
import dev.raddle.redis.RedisFleet;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * The meters of this JVM's instance of a fleet, each with the tag {@code fleet}, the namespace. They read {@link
 * RedisFleet#stats()} when a registry polls them; they call neither the server nor anything else, and add no cost to
 * the tasks. Needs the module {@code raddle-redis}, which the other classes of this package do not.
 *
 * {@snippet :
 * RedisFleet fleet = RedisFleet.connect(uri, FleetOptions.builder().namespace("checkout").build());
 * new FleetMeters(fleet).bindTo(registry);
 * }
 *
 * <p>Timer: {@code raddle.fleet.acquire}, from the moment at which a permit was wanted to its grant by the server, with
 * count and sum but no percentiles. Gauges: {@code raddle.fleet.backend.up}, 1 or 0; {@code raddle.fleet.leases}, the
 * permits that the instance holds; {@code raddle.fleet.wanted}, those that it wants; {@code raddle.fleet.groups}.
 * Counters: {@code raddle.fleet.lost}, permits that were lost with their lease; {@code raddle.fleet.outages}; {@code
 * raddle.fleet.calls} to the server.
 *
 * <p>The meters refer to the fleet weakly; when it has been collected, they show no value. {@link #close} removes them.
 * Two instances of one fleet in a JVM need different tags.
 */
public final class FleetMeters implements MeterBinder, AutoCloseable {

    private static final String PREFIX = "raddle.fleet.";
    private static final String PERMITS = "permits";

    private final RedisFleet fleet;
    private final Tags tags;
    private final Queue<Runnable> removals = new ConcurrentLinkedQueue<>();

    /**
     * Creates the meters of an instance of a fleet.
     *
     * @param fleet the instance to measure
     */
    public FleetMeters(RedisFleet fleet) {
        this(fleet, Tags.empty());
    }

    /**
     * Creates the meters of an instance of a fleet.
     *
     * @param fleet the instance to measure
     * @param tags the tags of each meter, besides {@code fleet}
     */
    public FleetMeters(RedisFleet fleet, Tags tags) {
        this.fleet = Objects.requireNonNull(fleet, "fleet");
        this.tags = tags.and("fleet", fleet.options().namespace());
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        note(
                registry,
                FunctionTimer.builder(
                                PREFIX + "acquire",
                                fleet,
                                read -> read.stats().acquired(),
                                read -> read.stats().acquireTime().toNanos(),
                                TimeUnit.NANOSECONDS)
                        .tags(tags)
                        .description("From wanting a permit to its grant by the server")
                        .register(registry));
        gauge(registry, "backend.up", "", "1 if the server answers", stats -> stats.backendUp() ? 1 : 0);
        gauge(registry, "leases", PERMITS, "Permits that the instance holds", FleetStats::leases);
        gauge(registry, "wanted", PERMITS, "Permits that the instance wants", FleetStats::wanted);
        gauge(registry, "groups", "groups", "Groups that hold or want permits", FleetStats::groups);
        counter(registry, "lost", PERMITS, "Permits that were lost with their lease", FleetStats::lost);
        counter(registry, "outages", BaseUnits.EVENTS, "Times without a server that have begun", FleetStats::outages);
        counter(registry, "calls", BaseUnits.OPERATIONS, "Calls to the server", FleetStats::calls);
    }

    private void gauge(
            MeterRegistry registry, String name, String unit, String description, ToDoubleFunction<FleetStats> value) {
        note(
                registry,
                Gauge.builder(PREFIX + name, fleet, read -> value.applyAsDouble(read.stats()))
                        .tags(tags)
                        .baseUnit(unit)
                        .description(description)
                        .register(registry));
    }

    private void counter(
            MeterRegistry registry, String name, String unit, String description, ToDoubleFunction<FleetStats> value) {
        note(
                registry,
                FunctionCounter.builder(PREFIX + name, fleet, read -> value.applyAsDouble(read.stats()))
                        .tags(tags)
                        .baseUnit(unit)
                        .description(description)
                        .register(registry));
    }

    private void note(MeterRegistry registry, Meter meter) {
        removals.add(() -> registry.remove(meter));
    }

    /** Removes the meters from each registry to which they were bound. Further calls have no effect. */
    @Override
    public void close() {
        for (Runnable removal; (removal = removals.poll()) != null; ) {
            removal.run();
        }
    }
}
