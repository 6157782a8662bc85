package dev.raddle.spring;

import dev.raddle.jdbc.FlowService;

/**
 * Changes the flow service that is configured by {@code raddle.flows}. Beans of this type are called in their order,
 * after the properties were applied and the flows were registered.
 *
 * {@snippet :
 * @Bean
 * FlowServiceCustomizer oldVersions(Archive archive, FlowCodec codec) {
 *     return service ->
 *             archive.versionsOfCheckout().forEach((version, plan) -> service.register(plan, version, codec));
 * }
 * }
 */
@FunctionalInterface
public interface FlowServiceCustomizer {

    /**
     * Changes a service before it is started.
     *
     * @param service the builder of the service
     */
    void customize(FlowService.Builder service);
}
