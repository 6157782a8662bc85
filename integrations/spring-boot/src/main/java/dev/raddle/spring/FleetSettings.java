package dev.raddle.spring;

import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.OutageMode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;

/** Reads the options of a fleet from properties. */
final class FleetSettings {

    private final List<String> errors = new ArrayList<>();

    private FleetSettings() {}

    /**
     * Returns the options.
     *
     * @throws InvalidPropertiesException if a property is out of range
     */
    static FleetOptions optionsOf(RaddleProperties.Redis redis, Environment environment) {
        FleetSettings settings = new FleetSettings();
        FleetOptions.Builder options = FleetOptions.builder();
        String namespace =
                redis.namespace() != null ? redis.namespace() : environment.getProperty("spring.application.name");
        settings.set("namespace", namespace, options::namespace);
        settings.set("lease", redis.lease(), options::lease);
        settings.set("slice", redis.slice(), options::slice);
        settings.set("instance-name", redis.instanceName(), options::instanceName);
        settings.set("outage-mode", redis.outageMode(), text -> options.outageMode(outageMode(text)));
        if (!settings.errors.isEmpty()) {
            throw new InvalidPropertiesException(settings.errors);
        }
        return options.build();
    }

    private <T> void set(String name, @Nullable T value, Consumer<T> setter) {
        if (value == null) {
            return;
        }
        try {
            setter.accept(value);
        } catch (IllegalArgumentException invalid) {
            errors.add("raddle.redis." + name + " is invalid: " + invalid.getMessage());
        }
    }

    private static OutageMode outageMode(String text) {
        return switch (text) {
            case "closed" -> OutageMode.closed();
            case "open" -> OutageMode.open();
            default -> OutageMode.local(permits(text));
        };
    }

    private static int permits(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException none) {
            throw new IllegalArgumentException(
                    "it must be closed, open or a number of permits, was \"" + text + "\"", none);
        }
    }
}
