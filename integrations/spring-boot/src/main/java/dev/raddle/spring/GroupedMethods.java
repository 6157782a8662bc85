package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.RejectedTaskException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The methods with {@link Grouped} of all beans. A method is read and checked once, when the first bean of its class
 * has been created.
 */
final class GroupedMethods {

    private static final Logger LOGGER = LoggerFactory.getLogger(GroupedMethods.class);

    /** Supertypes of results that are computed later, whose computation would run outside of the limits. */
    private static final Set<String> LAZY = Set.of(
            "java.util.Iterator",
            "java.util.concurrent.Callable",
            "java.util.concurrent.Flow$Publisher",
            "java.util.function.Supplier",
            "java.util.stream.BaseStream",
            "org.reactivestreams.Publisher",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    private final Map<MethodClassKey, GroupedMethod> methods = new ConcurrentHashMap<>();
    private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();
    private final Supplier<Optional<MethodObserver>> observer = SingletonSupplier.of(() ->
            Optional.ofNullable(beans().getBeanProvider(MethodObserver.class).getIfUnique()));
    private @Nullable BeanFactory beans; // set before the first bean is processed

    void setBeanFactory(BeanFactory beanFactory) {
        beans = beanFactory;
    }

    private BeanFactory beans() {
        return Objects.requireNonNull(beans, "beans");
    }

    /** Returns the observer of all calls, or null. */
    @Nullable
    MethodObserver observer() {
        return observer.get().orElse(null);
    }

    /** Returns the annotation of a method, which may be that of an interface or of an overridden method. */
    static @Nullable Grouped annotationOf(Method method, Class<?> type) {
        Method specific = specific(method, type);
        Grouped own = AnnotatedElementUtils.findMergedAnnotation(specific, Grouped.class);
        return own != null ? own : AnnotatedElementUtils.findMergedAnnotation(method, Grouped.class);
    }

    /** Returns the method that is called. Of a proxy of the JDK that is the one of its interface, which has a name. */
    private static Method specific(Method method, Class<?> type) {
        return Proxy.isProxyClass(type) ? method : AopUtils.getMostSpecificMethod(method, type);
    }

    /** Returns the settings of a method. */
    GroupedMethod of(Method method, Class<?> type) {
        MethodClassKey key = new MethodClassKey(method, type);
        GroupedMethod known = methods.get(key);
        return known != null ? known : methods.computeIfAbsent(key, absent -> read(method, type));
    }

    /**
     * Checks the methods of the class of a bean.
     *
     * @throws InvalidGroupedException if one of them cannot be run under limits
     */
    void check(Class<?> type) {
        if (type.getName().startsWith("org.springframework.") || !checked.add(type)) {
            return;
        }
        boolean isProxy = Proxy.isProxyClass(type); // of a client that exists as an interface only
        List<Method> grouped = new ArrayList<>();
        for (Class<?> declaring : isProxy ? type.getInterfaces() : new Class<?>[] {type}) {
            ReflectionUtils.doWithMethods(
                    declaring,
                    grouped::add,
                    method -> !method.isBridge() && !method.isSynthetic() && annotationOf(method, type) != null);
        }
        for (Method method : grouped) {
            requireProxied(method);
            of(method, type);
        }
    }

    private static void requireProxied(Method method) {
        for (int modifier : new int[] {Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL}) {
            if ((method.getModifiers() & modifier) != 0) {
                throw new InvalidGroupedException(GroupedMethod.nameOf(method) + " with @Grouped must not be "
                        + Modifier.toString(modifier) + ", because calls of it do not go through the bean");
            }
        }
    }

    /** Warns of methods whose callers are request threads of the platform and may all wait for one key. */
    void warnOfHeldRequestThreads() {
        String names = methods.values().stream()
                .filter(GroupedMethod::mayHoldAnyNumberOfCallers)
                .map(GroupedMethod::toString)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
        if (!names.isEmpty()) {
            LOGGER.warn(
                    "Requests have platform threads, and calls of {} hold them while they wait, so the requests of one"
                            + " key can take all threads; set spring.threads.virtual.enabled=true, or a queue-threshold"
                            + " that is smaller than the number of threads",
                    names);
        }
    }

    // Reading one method.

    private GroupedMethod read(Method method, Class<?> type) {
        Method specific = specific(method, type);
        Grouped grouped = Objects.requireNonNull(annotationOf(method, type), "the annotation");
        String name = GroupedMethod.nameOf(specific);
        Class<?> result = specific.getReturnType();
        ResolvableType declared = ResolvableType.forMethodReturnType(specific, type);
        if (endsLater(GroupedMethod.isFuture(result) ? declared.getGeneric(0) : declared)) {
            throw new InvalidGroupedException("the result of " + name + " with @Grouped must be a value, a Future, a"
                    + " CompletionStage or a CompletableFuture, was " + simpleName(declared));
        }
        if (!GroupedMethod.isFuture(result) && isAsync(specific, type)) {
            throw new InvalidGroupedException(
                    name + " with @Grouped and @Async must return a CompletableFuture, because"
                            + " its slot would be free again before the work has begun");
        }
        if (grouped.cost() < 1) {
            throw new InvalidGroupedException("the cost of " + name + " must be at least 1, was " + grouped.cost());
        }
        Duration queueTimeout = duration(name, "queueTimeout", grouped.queueTimeout());
        Duration timeout = duration(name, "timeout", grouped.timeout());
        if (timeout != null && timeout.isZero()) {
            throw new InvalidGroupedException("the timeout of " + name + " must be more than zero");
        }
        return new GroupedMethod(
                specific,
                executor(name, grouped.executor()),
                new KeyExpression(specific, grouped.key(), beans()),
                grouped,
                queueTimeout,
                timeout,
                onReject(name, specific, type, grouped.onReject()));
    }

    /** Returns whether work of a method may go on after it has returned, or its future has completed. */
    private static boolean endsLater(ResolvableType result) {
        Class<?> type = result.toClass();
        if (type.getName().startsWith("org.springframework.http.")) {
            return endsLater(result.as(type).getGeneric(0)); // the body of a ResponseEntity
        }
        return Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type) || isLazy(type);
    }

    private static String simpleName(ResolvableType type) {
        String generics =
                Stream.of(type.getGenerics()).map(GroupedMethods::simpleName).collect(Collectors.joining(", "));
        return type.toClass().getSimpleName() + (generics.isEmpty() ? "" : "<" + generics + ">");
    }

    private static boolean isLazy(Class<?> type) {
        return LAZY.contains(type.getName())
                || (type.getSuperclass() != null && isLazy(type.getSuperclass()))
                || Stream.of(type.getInterfaces()).anyMatch(GroupedMethods::isLazy);
    }

    /** Returns whether a method is called in another thread, by an interceptor inside of the limits. */
    private boolean isAsync(Method method, Class<?> type) {
        return beans().containsBean(TaskManagementConfigUtils.ASYNC_ANNOTATION_PROCESSOR_BEAN_NAME)
                && (AnnotatedElementUtils.hasAnnotation(method, Async.class)
                        || AnnotatedElementUtils.hasAnnotation(type, Async.class));
    }

    /** Returns a supplier of the executor's bean, which is created with the first call, not with the caller's bean. */
    private Supplier<GroupExecutor> executor(String method, String name) {
        if (name.isEmpty()) {
            requireOneExecutor(method);
            return SingletonSupplier.of(() -> beans().getBean(GroupExecutor.class));
        }
        try {
            if (beans().isTypeMatch(name, GroupExecutor.class)) {
                return SingletonSupplier.of(() -> beans().getBean(name, GroupExecutor.class));
            }
            throw new InvalidGroupedException(
                    "the executor \"" + name + "\" of " + method + " must be a group executor, but is another bean");
        } catch (NoSuchBeanDefinitionException missing) {
            throw new InvalidGroupedException(
                    "the executor \"" + name + "\" of " + method + " does not exist; set raddle.groups." + name
                            + ".max-concurrency",
                    missing);
        }
    }

    private void requireOneExecutor(String method) {
        if (!(beans() instanceof ConfigurableListableBeanFactory factory)) {
            return;
        }
        List<String> names = List.of(factory.getBeanNamesForType(GroupExecutor.class, true, false));
        if (names.isEmpty()) {
            throw new InvalidGroupedException(
                    method + " with @Grouped needs a group executor; set raddle.groups.NAME.max-concurrency");
        }
        boolean hasPrimary = names.stream()
                .anyMatch(name -> factory.containsBeanDefinition(name)
                        && factory.getBeanDefinition(name).isPrimary());
        if (names.size() > 1 && !hasPrimary) {
            throw new InvalidGroupedException(
                    method + " with @Grouped must name its executor, because there are several: " + names);
        }
    }

    private @Nullable Duration duration(String method, String attribute, String text) {
        String value = beans() instanceof ConfigurableBeanFactory configurable
                ? configurable.resolveEmbeddedValue(text)
                : text;
        if (value == null || value.isEmpty()) {
            return null;
        }
        try {
            Duration duration = DurationStyle.detectAndParse(value);
            if (!duration.isNegative()) {
                return duration;
            }
        } catch (IllegalArgumentException invalid) {
            // reported below, as a negative one is
        }
        throw new InvalidGroupedException("the " + attribute + " of " + method
                + " must be a duration such as 500ms that is not negative, was \"" + value + "\"");
    }

    private static @Nullable Method onReject(String name, Method method, Class<?> type, String fallback) {
        if (fallback.isEmpty()) {
            return null;
        }
        Class<?>[] plain = method.getParameterTypes();
        Class<?>[] withCause = Arrays.copyOf(plain, plain.length + 1);
        withCause[plain.length] = RejectedTaskException.class;
        Method found = ReflectionUtils.findMethod(type, fallback, withCause);
        if (found == null) {
            found = ReflectionUtils.findMethod(type, fallback, plain);
        }
        if (found == null || !method.getReturnType().isAssignableFrom(found.getReturnType())) {
            throw new InvalidGroupedException("the method \"" + fallback + "\" for rejected calls of " + name
                    + " must have the same parameters and result, and may have a last parameter of the type"
                    + " RejectedTaskException");
        }
        ReflectionUtils.makeAccessible(found);
        return found;
    }
}
