package dev.raddle.spring;

import java.util.Map;

/** The flow services of the application, without types of their library, which is optional. */
interface DurableRuns {

    /** Shuts all services down and logs the runs that are left to other workers. */
    void shutDown();

    /** Returns what each service does, by the names of their beans, for the endpoint. */
    Map<String, ?> reports();
}
