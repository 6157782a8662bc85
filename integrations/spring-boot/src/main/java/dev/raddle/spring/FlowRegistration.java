package dev.raddle.spring;

import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import java.util.Objects;

/**
 * A version of a flow that the configured service can run. Each bean of this type is registered with it.
 *
 * {@snippet :
 * @Bean
 * FlowRegistration checkout(Shop shop, FlowCodec codec) {
 *     return FlowRegistration.of(shop.checkout(), "1", codec);
 * }
 * }
 *
 * <p>Of several versions of a flow, new runs have the last one in the order of the beans.
 *
 * @param plan the plan, whose name is that of the flow
 * @param version the version, up to 50 letters, digits, dots, dashes and underscores; a plan whose nodes or
 *     dependencies have changed needs a new one
 * @param codec the codec of the parameter, of all values and of signals
 * @param options the options of each run, without a journal
 */
public record FlowRegistration(FlowPlan<?, ?> plan, String version, FlowCodec codec, RunOptions options) {

    /** Checks that nothing is null. */
    public FlowRegistration {
        Objects.requireNonNull(plan, "plan");
        Objects.requireNonNull(version, "version");
        Objects.requireNonNull(codec, "codec");
        Objects.requireNonNull(options, "options");
    }

    /**
     * Creates a registration with the default options of runs.
     *
     * @param plan the plan
     * @param version the version
     * @param codec the codec
     * @return a new registration
     */
    public static FlowRegistration of(FlowPlan<?, ?> plan, String version, FlowCodec codec) {
        return new FlowRegistration(plan, version, codec, RunOptions.defaults());
    }
}
