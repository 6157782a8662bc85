package dev.raddle.spring;

import dev.raddle.pool.PoolBuilder;

/**
 * Changes the pools that are configured by {@code raddle.pools}, for settings that are no properties. Beans of this
 * type are called in their order, after the properties were applied.
 *
 * {@snippet :
 * @Bean
 * ThreadPoolCustomizer urgentFirst() {
 *     return (name, pool) -> pool.priority(task -> task instanceof Urgent ? 1 : 0);
 * }
 * }
 */
@FunctionalInterface
public interface ThreadPoolCustomizer {

    /**
     * Changes a pool before it is built.
     *
     * @param name the name of the pool, which is that of its bean
     * @param pool the builder of the pool
     */
    void customize(String name, PoolBuilder pool);
}
