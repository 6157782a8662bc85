package dev.raddle.spring;

import dev.raddle.group.CircuitBreaker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks {@link RaddleProperties}, and collects what is wrong under the names that the properties have in a
 * configuration.
 */
final class PropertyCheck {

    private final RaddleProperties properties;
    private final List<String> errors = new ArrayList<>();

    private PropertyCheck(RaddleProperties properties) {
        this.properties = properties;
    }

    /**
     * Checks all properties.
     *
     * @throws InvalidPropertiesException if any of them is out of range
     */
    static void check(RaddleProperties properties) {
        PropertyCheck check = new PropertyCheck(properties);
        properties.groups().forEach(check::group);
        properties.pools().forEach(check::pool);
        check.flows();
        check.rest();
        check.throwIfAny();
    }

    private void throwIfAny() {
        if (!errors.isEmpty()) {
            throw new InvalidPropertiesException(errors);
        }
    }

    private void group(String name, RaddleProperties.Group group) {
        String prefix = "raddle.groups." + name + ".";
        atLeast(1, prefix + "max-concurrency", group.maxConcurrency());
        atLeast(1, prefix + "max-concurrency-by-key", group.maxConcurrencyByKey());
        atLeast(1, prefix + "global-max-in-flight", group.globalMaxInFlight());
        atLeast(1, prefix + "max-in-flight", group.maxInFlight());
        atLeast(1, prefix + "max-in-flight-by-key", group.maxInFlightByKey());
        atLeast(0, prefix + "queue-threshold", group.queueThreshold());
        atLeast(0, prefix + "queue-threshold-by-key", group.queueThresholdByKey());
        atLeast(0, prefix + "global-queue-threshold", group.globalQueueThreshold());
        atLeast(0, prefix + "max-idle-groups", group.maxIdleGroups());
        notNegative(prefix + "queue-timeout", group.queueTimeout());
        notNegative(prefix + "idle-group-ttl", group.idleGroupTtl());
        rate(prefix + "rate", group.rate());
        rate(prefix + "global-rate", group.globalRate());
        group.rateByKey().forEach((key, rate) -> rate(prefix + "rate-by-key[" + key + "]", rate));
        if (group.breaker() != null) {
            breaker(prefix + "breaker.", group.breaker());
        }
        if (properties.pools().containsKey(name)) {
            errors.add("raddle.groups." + name + " and raddle.pools." + name + " must not have the same name");
        }
    }

    private void breaker(String prefix, RaddleProperties.Breaker breaker) {
        if (breaker.failureRate() == null) {
            errors.add(prefix + "failure-rate must be set");
        }
        if ((breaker.slowerThan() == null) != (breaker.slowRate() == null)) {
            errors.add(prefix + "slower-than must be set together with slow-rate");
        }
        part(prefix + "failure-rate", breaker.failureRate());
        part(prefix + "slow-rate", breaker.slowRate());
        over(prefix + "over", breaker.over());
        atLeast(1, prefix + "at-least", breaker.atLeast());
        atLeast(1, prefix + "probes", breaker.probes());
        positive(prefix + "slower-than", breaker.slowerThan());
        positive(prefix + "open-for", breaker.openFor());
        positive(prefix + "max-open", breaker.maxOpen());
        for (Class<?> type : breaker.countWhen()) { // the binder does not check that it is an exception
            if (!Throwable.class.isAssignableFrom(type)) {
                errors.add(prefix + "count-when must have types of exceptions, had " + type.getName());
            }
        }
    }

    private void pool(String name, RaddleProperties.Pool pool) {
        String prefix = "raddle.pools." + name + ".";
        atLeast(1, prefix + "threads", pool.threads());
        atLeast(0, prefix + "core-threads", pool.coreThreads());
        atLeast(1, prefix + "max-threads", pool.maxThreads());
        atLeast(1, prefix + "queue-capacity", pool.queueCapacity());
        notNegative(prefix + "keep-alive", pool.keepAlive());
        notNegative(prefix + "block-timeout", pool.blockTimeout());
        positive(prefix + "stuck-after", pool.stuckAfter());
        if (pool.threads() != null && (pool.coreThreads() != null || pool.maxThreads() != null)) {
            errors.add(prefix + "threads must not be set together with core-threads or max-threads");
        }
        if (pool.coreThreads() != null && pool.maxThreads() != null && pool.coreThreads() > pool.maxThreads()) {
            errors.add(prefix + "core-threads must be at most max-threads, was " + pool.coreThreads() + " of "
                    + pool.maxThreads());
        }
        if (pool.blockTimeout() != null && pool.rejection() != RaddleProperties.Pool.Rejection.BLOCK) {
            errors.add(prefix + "block-timeout needs the rejection block, was "
                    + pool.rejection().name().toLowerCase(Locale.ROOT));
        }
    }

    private void flows() {
        RaddleProperties.Flows flows = properties.flows();
        String prefix = "raddle.flows.";
        String worker = flows.workerName();
        if (worker != null && (worker.isEmpty() || worker.length() > 50)) {
            errors.add(prefix + "worker-name must have 1 to 50 characters, had " + worker.length());
        }
        atLeast(1, prefix + "max-runs", flows.maxRuns());
        atLeast(Duration.ofMillis(100), prefix + "heartbeat", flows.heartbeat());
        atLeast(4, prefix + "missed-heartbeats", flows.missedHeartbeats());
        atLeast(Duration.ofMillis(10), prefix + "poll-interval", flows.pollInterval());
        notNegative(prefix + "retention", flows.retention());
        notNegative(prefix + "close-timeout", flows.closeTimeout());
        Duration whole = properties.shutdown().timeout();
        if (flows.closeTimeout() != null && flows.closeTimeout().compareTo(whole) > 0) {
            errors.add(prefix + "close-timeout must be at most raddle.shutdown.timeout, was " + flows.closeTimeout()
                    + " of " + whole);
        }
    }

    private void rest() {
        notNegative("raddle.shutdown.timeout", properties.shutdown().timeout());
        notNegative("raddle.web.retry-after", properties.web().retryAfter());
        atLeast(0, "raddle.metrics.top-keys", properties.metrics().topKeys());
        atLeast(0, "raddle.console.port", properties.console().port());
        atLeast(1, "raddle.console.clients", properties.console().clients());
    }

    private void atLeast(int least, String name, @Nullable Integer value) {
        if (value != null && value < least) {
            errors.add(name + " must be at least " + least + ", was " + value);
        }
    }

    private void atLeast(int least, String name, Map<String, Integer> values) {
        values.forEach((key, value) -> atLeast(least, name + "[" + key + "]", value));
    }

    private void atLeast(Duration least, String name, @Nullable Duration value) {
        if (value != null && value.compareTo(least) < 0) {
            errors.add(name + " must be at least " + least.toMillis() + " ms, was " + value.toMillis() + " ms");
        }
    }

    private void notNegative(String name, @Nullable Duration value) {
        if (value != null && value.isNegative()) {
            errors.add(name + " must not be negative, was " + value);
        }
    }

    private void positive(String name, @Nullable Duration value) {
        if (value != null && !value.isPositive()) {
            errors.add(name + " must be more than zero, was " + value);
        }
    }

    private void part(String name, @Nullable Double value) {
        if (value != null && !(value > 0 && value <= 1)) {
            errors.add(name + " must be more than 0 and at most 1, was " + value);
        }
    }

    private void over(String name, @Nullable String text) {
        try {
            if (text != null) {
                ConfiguredExecutors.over(CircuitBreaker.failureRate(1), text);
            }
        } catch (IllegalArgumentException invalid) {
            errors.add(name + " must be a number of tasks such as 100, or a time such as 60s, was \"" + text + "\": "
                    + invalid.getMessage());
        }
    }

    private void rate(String name, @Nullable String text) {
        try {
            RateText.parse(text);
        } catch (IllegalArgumentException invalid) {
            errors.add(name + " must be a rate such as 100/s or 5000/h burst 50, was \"" + text + "\""
                    + (invalid.getMessage() == null ? "" : ": " + invalid.getMessage()));
        }
    }
}
