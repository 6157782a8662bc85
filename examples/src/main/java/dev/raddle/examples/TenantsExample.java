package dev.raddle.examples;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

/** Three tenants share four permits. One floods the executor with tasks; the tasks of the other two start quickly. */
public final class TenantsExample {

    /** Records the longest wait of each tenant. Several threads call it concurrently. */
    private static final class LongestWaits implements TaskListener {

        private final ConcurrentHashMap<String, Duration> waits = new ConcurrentHashMap<>();

        @Override
        public void onStarted(TaskIdentity task, long waitNanos) {
            waits.merge(task.owner(), Duration.ofNanos(waitNanos), (a, b) -> a.compareTo(b) > 0 ? a : b);
        }
    }

    private TenantsExample() {}

    /**
     * Prints the longest wait of each tenant.
     *
     * @param args none
     */
    public static void main(String[] args) {
        System.out.println("tenant   tasks  longest wait");
        Map<String, Integer> tasks = Map.of("flood", 500, "quiet-1", 10, "quiet-2", 10);
        Callable<?> call = () -> {
            Thread.sleep(5); // stands for a slow call
            return null;
        };
        longestWaits(tasks, call, TimeSource.system()).forEach((tenant, wait) -> {
            System.out.printf(Locale.ROOT, "%-8s %5d %10d ms%n", tenant, tasks.get(tenant), wait.toMillis());
        });
    }

    /**
     * Runs tasks for several tenants, the tenants with many tasks first.
     *
     * @param tasks the number of tasks that each tenant submits at once
     * @param call the body of each task
     * @param time the time source
     * @return the longest wait of a task of each tenant
     */
    public static Map<String, Duration> longestWaits(Map<String, Integer> tasks, Callable<?> call, TimeSource time) {
        LongestWaits longest = new LongestWaits();
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(4) // a single tenant may use all permits
                .globalMaxInFlight(4)
                .addListener(longest)
                .timeSource(time)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            tasks.entrySet().stream()
                    .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                    .forEach(tenant -> submit(executor, tenant.getKey(), tenant.getValue(), call));
        } // waits until all tasks have ended
        return new TreeMap<>(longest.waits);
    }

    private static void submit(GroupExecutor executor, String tenant, int tasks, Callable<?> call) {
        for (int i = 0; i < tasks; i++) {
            executor.submit(tenant, "task-" + i, call);
        }
    }
}
