package dev.raddle.examples;

import dev.raddle.group.AdaptiveLimit;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.LimitChange;
import dev.raddle.group.TaskLifecycleListener;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;

/** A server answers a few calls at once and lets the others wait. The limit of its group finds out how many. */
public final class AdaptiveLimitExample {

    private AdaptiveLimitExample() {}

    /**
     * Prints each change of the limit, with its reason.
     *
     * @param args none
     */
    public static void main(String[] args) {
        Semaphore servers = new Semaphore(8);
        Callable<Void> call = () -> {
            servers.acquire();
            try {
                Thread.sleep(5); // stands for the work of the server
                return null;
            } finally {
                servers.release();
            }
        };
        changes(10_000, call).forEach(System.out::println);
    }

    /**
     * Makes calls to a server with an adaptive limit.
     *
     * @param calls the number of calls
     * @param call the call
     * @return the changes of the limit
     */
    public static List<LimitChange> changes(int calls, Callable<Void> call) {
        List<LimitChange> changes = new CopyOnWriteArrayList<>();
        GroupPolicy policy = GroupPolicy.builder()
                .adaptiveLimit(server -> AdaptiveLimit.gradient().initial(2).max(50))
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onLimitChanged(LimitChange change) {
                        changes.add(change);
                    }
                })
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < calls; i++) {
                executor.submit("server", call);
            }
        } // waits until all tasks have ended
        return List.copyOf(changes);
    }
}
