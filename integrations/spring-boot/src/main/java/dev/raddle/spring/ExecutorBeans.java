package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.pool.ThreadPool;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.Environment;

/**
 * Defines a bean for each name in {@code raddle.groups} and {@code raddle.pools}, unless the application has a bean
 * of that name and type. Runs after all configurations were read, so the application's beans are known, and before any
 * bean is created, so a wrong property is reported first.
 */
final class ExecutorBeans implements BeanDefinitionRegistryPostProcessor {

    private final Environment environment;

    ExecutorBeans(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        // As Boot binds the bean of the properties, but before other beans are created.
        BindHandler unknown = new NoUnboundElementsBindHandler(
                new IgnoreTopLevelConverterNotFoundBindHandler(), new UnboundElementsSourceFilter());
        RaddleProperties properties =
                Binder.get(environment).bindOrCreate("raddle", Bindable.of(RaddleProperties.class), unknown);
        PropertyCheck.check(properties);
        ConfigurableListableBeanFactory beans = (ConfigurableListableBeanFactory) registry;
        List<String> errors = new ArrayList<>();
        properties.groups().forEach((name, group) -> {
            if (isFree(beans, "raddle.groups." + name, name, GroupExecutor.class, errors)) {
                registry.registerBeanDefinition(name, definition(GroupExecutor.class, "groups", "shutdown", name));
            }
        });
        properties.pools().keySet().forEach(name -> {
            if (isFree(beans, "raddle.pools." + name, name, ThreadPool.class, errors)) {
                registry.registerBeanDefinition(name, definition(ThreadPool.class, "pool", "shutdownNow", name));
            }
        });
        properties.groups().forEach((name, group) -> requirePool(beans, name, group.pool(), errors));
        if (!errors.isEmpty()) {
            throw new InvalidPropertiesException(errors);
        }
    }

    private static boolean isFree(
            ConfigurableListableBeanFactory beans, String property, String name, Class<?> type, List<String> errors) {
        if (!beans.containsBean(name)) {
            return true;
        }
        if (!beans.isTypeMatch(name, type)) {
            errors.add(property + " must have another name: there is a bean \"" + name + "\" of type "
                    + beans.getType(name, false));
        }
        return false;
    }

    private static void requirePool(
            ConfigurableListableBeanFactory beans, String name, @Nullable String pool, List<String> errors) {
        if (pool != null && !(beans.containsBean(pool) && beans.isTypeMatch(pool, ThreadPool.class))) {
            errors.add("raddle.groups." + name + ".pool must be the name of a pool, was \"" + pool + "\"");
        }
    }

    /**
     * Returns a definition whose bean is drained by {@link ShutdownLifecycle}. The destroy method ends what is left at
     * once: after a start that failed, nothing was drained, and after a drain it has no effect.
     */
    private static RootBeanDefinition definition(Class<?> type, String factoryMethod, String destroy, String name) {
        RootBeanDefinition definition = new RootBeanDefinition(type);
        definition.setFactoryBeanName(ConfiguredExecutors.BEAN_NAME);
        definition.setFactoryMethodName(factoryMethod);
        definition.getConstructorArgumentValues().addIndexedArgumentValue(0, name);
        definition.setDestroyMethodName(destroy);
        return definition;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {}
}
