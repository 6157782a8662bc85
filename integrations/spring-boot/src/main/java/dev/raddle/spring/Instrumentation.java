package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.TaskListener;

/** What observes the executors and pools that are configured by properties. */
interface Instrumentation {

    /** Returns the listener of an executor that is about to be created. */
    TaskListener listenerFor(String name);

    /** Notes a new executor, which has the listener that was returned for its name. */
    void created(String name, GroupExecutor executor);

    /** Notes a new pool. */
    void created(ThreadPool pool);
}
