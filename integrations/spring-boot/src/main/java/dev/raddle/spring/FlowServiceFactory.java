package dev.raddle.spring;

import dev.raddle.jdbc.FlowService;
import java.time.Duration;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Starts the service that is configured by {@code raddle.flows}. */
final class FlowServiceFactory {

    private static final String DATA_SOURCE = "raddle.flows.data-source";

    private final RaddleProperties.Flows settings;
    private final Duration closeTimeout;
    private final ConfigurableListableBeanFactory beans;

    FlowServiceFactory(RaddleProperties.Flows settings, Duration closeTimeout, ConfigurableListableBeanFactory beans) {
        this.settings = settings;
        this.closeTimeout = closeTimeout;
        this.beans = beans;
    }

    FlowService start() {
        FlowService.Builder builder = FlowService.on(dataSource())
                .heartbeat(settings.heartbeat(), settings.missedHeartbeats())
                .closeTimeout(closeTimeout);
        set(settings.workerName(), builder::name);
        set(settings.maxRuns(), builder::maxRuns);
        set(settings.pollInterval(), builder::pollInterval);
        set(settings.retention(), builder::retention);
        if (settings.applySchema()) {
            builder.applySchema();
        }
        if (settings.submitOnly()) {
            builder.submitOnly();
        }
        registerAll(builder);
        beans.getBeanProvider(FlowServiceCustomizer.class)
                .orderedStream()
                .forEach(customizer -> customizer.customize(builder));
        try {
            return builder.start();
        } catch (IllegalStateException noTables) {
            throw new InvalidPropertiesException(List.of("raddle.flows.apply-schema is " + settings.applySchema()
                    + ", and the flow service cannot start: " + noTables.getMessage()));
        }
    }

    private static <T> void set(@Nullable T value, Consumer<T> setter) {
        if (value != null) {
            setter.accept(value);
        }
    }

    private DataSource dataSource() {
        String name = settings.dataSource();
        if (name == null) {
            DataSource only = beans.getBeanProvider(DataSource.class).getIfUnique(); // or the primary one
            if (only == null) {
                throw invalid(" must name one of several data sources, was not set");
            }
            return only;
        }
        if (!beans.containsBean(name) || !beans.isTypeMatch(name, DataSource.class)) {
            throw invalid(" must be the name of a data source, was \"" + name + "\"");
        }
        return beans.getBean(name, DataSource.class);
    }

    private InvalidPropertiesException invalid(String text) {
        return new InvalidPropertiesException(List.of(DATA_SOURCE + text + "; there are "
                + new TreeSet<>(List.of(beans.getBeanNamesForType(DataSource.class)))));
    }

    /** Registers the beans in their order. */
    private void registerAll(FlowService.Builder builder) {
        IdentityHashMap<FlowRegistration, String> names = new IdentityHashMap<>();
        beans.getBeansOfType(FlowRegistration.class).forEach((name, registration) -> names.put(registration, name));
        Map<String, String> registered = new HashMap<>();
        beans.getBeanProvider(FlowRegistration.class).orderedStream().forEach(registration -> {
            String name = Objects.requireNonNull(names.get(registration));
            String flow = "version " + registration.version() + " of flow \""
                    + registration.plan().name() + "\"";
            String before = registered.put(flow, name);
            if (before != null) {
                throw new InvalidRegistrationException(
                        flow + " is registered by the beans \"" + before + "\" and \"" + name
                                + "\"; each version of a flow needs one registration",
                        null);
            }
            register(builder, name, registration);
        });
    }

    private static void register(FlowService.Builder builder, String name, FlowRegistration registration) {
        try {
            builder.register(registration.plan(), registration.version(), registration.codec(), registration.options());
        } catch (IllegalArgumentException invalid) {
            throw new InvalidRegistrationException(
                    "the flow of bean \"" + name + "\" cannot be registered: " + invalid.getMessage(), invalid);
        }
    }
}
