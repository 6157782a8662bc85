package dev.raddle.spring;

import dev.raddle.group.GroupPolicy;

/**
 * Changes the policies of the group executors that are configured by {@code raddle.groups}, for settings that are no
 * properties, such as resolvers. Beans of this type are called in their order, after the properties were applied.
 *
 * {@snippet :
 * @Bean
 * GroupPolicyCustomizer weights(Tenants tenants) {
 *     return (name, policy) -> policy.weightResolver(key -> tenants.isPremium(key) ? 4 : 1);
 * }
 * }
 *
 * <p>A customizer that sets a listener replaces the listeners of the metrics. Declare a {@link
 * dev.raddle.task.TaskListener} as a bean instead: it is notified beside them.
 */
@FunctionalInterface
public interface GroupPolicyCustomizer {

    /**
     * Changes a policy before it is built.
     *
     * @param name the name of the executor, which is that of its bean
     * @param policy the builder of its policy
     */
    void customize(String name, GroupPolicy.Builder policy);
}
