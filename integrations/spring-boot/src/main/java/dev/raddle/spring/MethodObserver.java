package dev.raddle.spring;

import org.jspecify.annotations.Nullable;

/** What observes the calls of methods with {@link Grouped}. */
interface MethodObserver {

    /** Makes a call, and observes it until it returns, or until the future that it returns has completed. */
    @Nullable
    Object observe(GroupedMethod method, GroupedMethod.Call call) throws Exception;
}
