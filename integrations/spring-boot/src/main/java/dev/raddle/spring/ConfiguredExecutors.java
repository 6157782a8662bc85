package dev.raddle.spring;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.PermitSource;
import dev.raddle.pool.PoolBuilder;
import dev.raddle.pool.RejectionHandler;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rate;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.convert.DurationStyle;

/** Creates the executors and pools that are configured by properties. Their bean definitions name its methods. */
final class ConfiguredExecutors {

    static final String BEAN_NAME = "raddleConfiguredExecutors";

    private final RaddleProperties properties;
    private final BeanFactory beans;
    private final Map<GroupExecutor, UnfinishedTasks> unfinished = new ConcurrentHashMap<>();

    ConfiguredExecutors(RaddleProperties properties, BeanFactory beans) {
        this.properties = properties;
        this.beans = beans;
    }

    /** Creates the executor of a name. */
    GroupExecutor groups(String name) {
        RaddleProperties.Group group =
                Objects.requireNonNull(properties.groups().get(name), name);
        GroupPolicy.Builder policy = policyOf(group)
                .name(name)
                .timeSource(timeSource())
                .closeTimeout(properties.shutdown().timeout());
        propagators().forEach(policy::addPropagator);
        beans.getBeanProvider(ExceptionSink.class).ifUnique(policy::exceptionSink);
        UnfinishedTasks tasks = new UnfinishedTasks();
        policy.addListener(listenerFor(name, tasks));
        if (group.fleet()) {
            beans.getBeanProvider(PermitSource.class).ifUnique(policy::permits);
        }
        if (group.pool() != null) {
            Scheduler scheduler = Scheduler.from(beans.getBean(group.pool(), ThreadPool.class));
            policy.scheduler(key -> scheduler);
        }
        beans.getBeanProvider(GroupPolicyCustomizer.class)
                .orderedStream()
                .forEach(customizer -> customizer.customize(name, policy));
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy.build());
        unfinished.put(executor, tasks);
        beans.getBeanProvider(Instrumentation.class).forEach(meters -> meters.created(name, executor));
        return executor;
    }

    private TaskListener listenerFor(String name, TaskListener first) {
        TaskListener listener = first;
        for (Instrumentation meters : beans.getBeanProvider(Instrumentation.class)) {
            listener = listener.and(meters.listenerFor(name));
        }
        for (TaskListener bean : taskListeners()) {
            listener = listener.and(bean);
        }
        return listener;
    }

    /** Returns the tasks of an executor, or null if it was not configured by properties. */
    @Nullable
    UnfinishedTasks unfinishedOf(GroupExecutor executor) {
        return unfinished.get(executor);
    }

    private List<TaskListener> taskListeners() {
        return beans.getBeanProvider(TaskListener.class).orderedStream().toList();
    }

    private TimeSource timeSource() {
        return beans.getBeanProvider(TimeSource.class).getIfUnique(TimeSource::system);
    }

    private List<ContextPropagator> propagators() {
        return beans.getBeanProvider(ContextPropagator.class).orderedStream().toList();
    }

    private static GroupPolicy.Builder policyOf(RaddleProperties.Group group) {
        GroupPolicy.Builder policy = GroupPolicy.builder()
                .perGroupMaxConcurrency(group.maxConcurrencyByKey())
                .perGroupMaxInFlight(group.maxInFlightByKey())
                .perGroupQueueThreshold(group.queueThresholdByKey())
                .queueTimeout(group.queueTimeout())
                .perGroupRate(rates(group.rateByKey()))
                .defaultRatePerGroup(RateText.parse(group.rate()))
                .globalRate(RateText.parse(group.globalRate()));
        set(group.maxConcurrency(), policy::defaultMaxConcurrencyPerGroup);
        set(group.globalMaxInFlight(), policy::globalMaxInFlight);
        set(group.maxInFlight(), policy::defaultMaxInFlightPerGroup);
        set(group.queueThreshold(), policy::defaultQueueThresholdPerGroup);
        set(group.globalQueueThreshold(), policy::globalQueueThreshold);
        set(group.breaker(), settings -> {
            CircuitBreaker breaker = breakerOf(settings);
            policy.breaker(key -> breaker);
        });
        set(group.rejectionPolicy(), policy::rejectionPolicy);
        set(group.lostPermits(), policy::lostPermits);
        set(group.idleGroupTtl(), policy::idleGroupTtl);
        set(group.maxIdleGroups(), policy::maxIdleGroups);
        set(group.reuseThreads(), policy::reuseThreads);
        return policy;
    }

    private static Map<String, Rate> rates(Map<String, String> texts) {
        Map<String, Rate> rates = new HashMap<>();
        texts.forEach((key, text) -> rates.put(key, Objects.requireNonNull(RateText.parse(text))));
        return rates;
    }

    private static CircuitBreaker breakerOf(RaddleProperties.Breaker settings) {
        CircuitBreaker breaker = CircuitBreaker.failureRate(Objects.requireNonNull(settings.failureRate()));
        breaker = with(breaker, settings.over(), ConfiguredExecutors::over);
        breaker = with(breaker, settings.atLeast(), CircuitBreaker::atLeast);
        breaker = with(breaker, settings.openFor(), CircuitBreaker::openFor);
        breaker = with(breaker, settings.maxOpen(), CircuitBreaker::maxOpen);
        breaker = with(breaker, settings.probes(), CircuitBreaker::probes);
        if (settings.slowerThan() != null && settings.slowRate() != null) {
            breaker = breaker.slowerThan(settings.slowerThan(), settings.slowRate());
        }
        List<Class<? extends Throwable>> counted = settings.countWhen();
        if (!counted.isEmpty()) {
            breaker = breaker.countWhen(error -> counted.stream().anyMatch(type -> type.isInstance(error)));
        }
        return settings.openWaits() ? breaker.openWaits() : breaker;
    }

    private static <T> CircuitBreaker with(
            CircuitBreaker breaker, @Nullable T value, BiFunction<CircuitBreaker, T, CircuitBreaker> setter) {
        return value == null ? breaker : setter.apply(breaker, value);
    }

    /** Returns a breaker over a number of tasks, such as {@code 100}, or those of a time, such as {@code 60s}. */
    static CircuitBreaker over(CircuitBreaker breaker, String text) {
        return text.chars().allMatch(Character::isDigit)
                ? breaker.over(Integer.parseInt(text))
                : breaker.over(DurationStyle.detectAndParse(text));
    }

    /** Creates the pool of a name. */
    ThreadPool pool(String name) {
        RaddleProperties.Pool settings =
                Objects.requireNonNull(properties.pools().get(name), name);
        PoolBuilder builder = ThreadPool.builder(name).timeSource(timeSource()).rejection(rejectionOf(settings));
        propagators().forEach(builder::addPropagator);
        beans.getBeanProvider(ExceptionSink.class).ifUnique(builder::exceptionSink);
        taskListeners().forEach(builder::addListener);
        set(settings.maxThreads(), builder::maxThreads);
        set(settings.coreThreads(), builder::coreThreads);
        set(settings.threads(), builder::threads);
        set(settings.queueCapacity(), builder::queueCapacity);
        set(settings.keepAlive(), builder::keepAlive);
        set(settings.allowCoreTimeout(), builder::allowCoreTimeout);
        set(settings.scaleBeforeQueueing(), builder::scaleBeforeQueueing);
        set(settings.stuckAfter(), builder::stuckAfter);
        beans.getBeanProvider(ThreadPoolCustomizer.class)
                .orderedStream()
                .forEach(customizer -> customizer.customize(name, builder));
        ThreadPool pool = builder.build();
        beans.getBeanProvider(Instrumentation.class).forEach(meters -> meters.created(pool));
        return pool;
    }

    private static <T> void set(@Nullable T value, Consumer<T> setter) {
        if (value != null) {
            setter.accept(value);
        }
    }

    private static RejectionHandler rejectionOf(RaddleProperties.Pool pool) {
        Duration timeout = pool.blockTimeout();
        return switch (pool.rejection()) {
            case ABORT -> new ThreadPool.AbortPolicy();
            case CALLER_RUNS -> new ThreadPool.CallerRunsPolicy();
            case BLOCK -> timeout == null ? new ThreadPool.BlockPolicy() : new ThreadPool.BlockPolicy(timeout);
            case DISCARD -> new ThreadPool.DiscardPolicy();
            case DISCARD_OLDEST -> new ThreadPool.DiscardOldestPolicy();
        };
    }
}
