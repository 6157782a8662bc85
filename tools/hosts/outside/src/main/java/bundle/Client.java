package bundle;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Scheduler;
import java.util.concurrent.Callable;

/** What a bundle does that imports Raddle's packages. */
public final class Client implements Callable<String> {

    @Override
    public String call() throws Exception {
        try (GroupExecutor tasks = GroupExecutor.newVirtualThreadExecutor(
                        GroupPolicy.builder().build());
                ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(1))) { // a service of the core
            String done = tasks.submit("key", "task", () -> "done").await().orElseThrow();
            return scope.submit("task", () -> done).await();
        }
    }
}
