package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupStats;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.Rate;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The endpoint {@code raddle} of Actuator: what runs and waits, which limits hold, and why the tasks of a key wait. Its
 * writes change limits until the group is evicted, and open and reset breakers; they are off unless
 * {@code management.endpoint.raddle.access} is {@code unrestricted}.
 */
@Endpoint(id = "raddle", defaultAccess = Access.READ_ONLY)
final class RaddleEndpoint {

    private static final Logger LOGGER = LoggerFactory.getLogger(RaddleEndpoint.class);
    private static final EndpointId ID = EndpointId.of("raddle");
    private static final int DEFAULT_COUNT = 100;
    private static final int GREATEST_COUNT = 1000;

    private final Map<String, GroupExecutor> executors;
    private final Map<String, ThreadPool> pools;
    private final List<DurableRuns> runs;

    RaddleEndpoint(Map<String, GroupExecutor> executors, Map<String, ThreadPool> pools, List<DurableRuns> runs) {
        this.executors = executors;
        this.pools = pools;
        this.runs = runs;
    }

    /** All executors, pools and flow services. */
    record Overview(
            Map<String, GroupExecutorStats> executors,
            Map<String, ThreadPool.Stats> pools,
            Map<String, Object> flowServices) {}

    /** An executor with those of its groups in which the most tasks wait and run. */
    record ExecutorReport(GroupExecutorStats stats, List<GroupStats> groups) {}

    /** A group, and why its tasks wait, or one of them. */
    record KeyReport(GroupStats stats, String explanation) {}

    @ReadOperation
    Overview overview() {
        Map<String, Object> services = new TreeMap<>();
        runs.forEach(each -> services.putAll(each.reports()));
        return new Overview(sorted(executors, GroupExecutor::stats), sorted(pools, ThreadPool::stats), services);
    }

    private static <T, R> Map<String, R> sorted(Map<String, T> beans, Function<T, R> stats) {
        return beans.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> stats.apply(entry.getValue()), (one, other) -> one, TreeMap::new));
    }

    @ReadOperation
    @Nullable
    ExecutorReport executor(@Selector String executor, @Nullable Integer count) {
        GroupExecutor found = executors.get(executor);
        if (found == null) {
            return null;
        }
        require(count == null || count >= 0, "count must not be negative, was " + count);
        List<GroupStats> groups = found.activeGroupKeys().stream()
                .map(found::groupStats)
                .flatMap(Optional::stream)
                .sorted(Comparator.comparingInt(GroupStats::queuedCount)
                        .thenComparingInt(GroupStats::activeCount)
                        .reversed()
                        .thenComparing(GroupStats::groupKey))
                .limit(count == null ? DEFAULT_COUNT : Math.min(count, GREATEST_COUNT))
                .map(ShortText::of)
                .toList();
        return new ExecutorReport(found.stats(), groups);
    }

    @ReadOperation
    @Nullable
    KeyReport key(
            @Selector String executor,
            @Nullable String task,
            @Selector(match = Selector.Match.ALL_REMAINING) String... key) {
        GroupExecutor found = executors.get(executor);
        return found == null ? null : report(found, String.join("/", key), task);
    }

    private static @Nullable KeyReport report(GroupExecutor executor, String key, @Nullable String task) {
        return executor.groupStats(key)
                .map(stats -> {
                    String why =
                            task == null ? KeyExplanation.of(executor, stats) : KeyExplanation.of(executor, key, task);
                    return new KeyReport(ShortText.of(stats), ShortText.sentence(why));
                })
                .orElse(null);
    }

    /**
     * Changes the limits of a group, pauses or resumes it, holds its tasks, or opens or resets its breaker. A wrong
     * value changes none of them.
     *
     * @return the report of the group, or a response with the status 404
     */
    @WriteOperation
    @Nullable
    Object change(
            @Selector String executor,
            @Nullable Integer maxConcurrency,
            @Nullable Integer weight,
            @Nullable String rate,
            @Nullable Boolean paused,
            @Nullable Duration hold,
            @Nullable Duration openBreaker,
            @Nullable Boolean resetBreaker,
            @Nullable Principal user,
            @Selector(match = Selector.Match.ALL_REMAINING) String... key) {
        GroupExecutor found = executors.get(executor);
        String group = String.join("/", key);
        if (found == null) {
            return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
        }
        require(
                maxConcurrency == null || maxConcurrency > 0,
                "maxConcurrency must be at least 1, was " + maxConcurrency);
        require(weight == null || weight > 0, "weight must be at least 1, was " + weight);
        require(hold == null || !hold.isNegative(), "hold must not be negative, was " + hold);
        require(resetBreaker == null || resetBreaker, "resetBreaker must be true, was false");
        require(resetBreaker == null || hasBreaker(found, group), "the key is unknown, or has no breaker");
        Rate newRate = rateOf(rate);
        List<String> changes = new ArrayList<>();
        // This one is the first, because only it may still be refused.
        change("openBreaker", openBreaker, time -> openBreaker(found, group, time), changes);
        change("resetBreaker", resetBreaker, _ -> found.resetBreaker(group), changes);
        change("maxConcurrency", maxConcurrency, limit -> found.setMaxConcurrency(group, limit), changes);
        change("weight", weight, share -> found.setWeight(group, share), changes);
        change("rate", rate, text -> found.setRate(group, newRate), changes);
        change("hold", hold, time -> found.holdGroup(group, time), changes);
        change("paused", paused, pause -> pause(found, group, pause), changes);
        LOGGER.info(
                "executor \"{}\", key \"{}\": {} by {}",
                executor,
                ShortText.key(group).replaceAll("\\p{Cntrl}", "?"),
                changes,
                user == null ? "an unknown user" : user.getName());
        return report(found, group, null);
    }

    private static <T> void change(String name, @Nullable T value, Consumer<T> setter, List<String> changes) {
        if (value != null) {
            setter.accept(value);
            changes.add(name + "=" + value);
        }
    }

    private static void pause(GroupExecutor executor, String group, boolean paused) {
        if (paused) {
            executor.pauseGroup(group);
        } else {
            executor.resumeGroup(group);
        }
    }

    private static boolean hasBreaker(GroupExecutor executor, String group) {
        return executor.groupStats(group).map(GroupStats::breaker).isPresent();
    }

    private static void openBreaker(GroupExecutor executor, String group, Duration time) {
        try {
            executor.openBreaker(group, time);
        } catch (IllegalArgumentException refused) {
            throw invalid(ShortText.sentence(String.valueOf(refused.getMessage())));
        }
    }

    /** Refuses a write with a field that has no parameter, which would change nothing and look like a success. */
    static final class UnknownFields implements OperationInvokerAdvisor {
        @Override
        public OperationInvoker apply(
                EndpointId endpoint, OperationType type, OperationParameters parameters, OperationInvoker invoker) {
            if (!endpoint.equals(ID) || type != OperationType.WRITE) {
                return invoker;
            }
            Set<String> known =
                    parameters.stream().map(OperationParameter::getName).collect(Collectors.toCollection(TreeSet::new));
            known.remove("user"); // not from the request
            return context -> {
                for (String name : context.getArguments().keySet()) {
                    require(known.contains(name), "there is no field \"" + ShortText.key(name) + "\", only " + known);
                }
                return invoker.invoke(context);
            };
        }
    }

    private static @Nullable Rate rateOf(@Nullable String text) {
        try {
            return text == null || text.isEmpty() ? null : RateText.parse(text);
        } catch (IllegalArgumentException invalid) {
            throw invalid("rate must be a rate such as 100/s or 5000/h burst 50, was \"" + text + "\"");
        }
    }

    private static void require(boolean isMet, String rule) {
        if (!isMet) {
            throw invalid(rule);
        }
    }

    /** Returns an exception that is the status 400. */
    private static InvalidEndpointRequestException invalid(String rule) {
        return new InvalidEndpointRequestException(rule, rule);
    }
}
