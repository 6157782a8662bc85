package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import tools.jackson.databind.node.ObjectNode;

/** Does the heap of the program stay flat? Isolated, because other tests change it too. */
@Timeout(120)
@Isolated
class ConsoleSoakTest {

    private static final ObjectNode NOTHING = Json.object(Map.of());
    private static final String GROUP = "view=group&executor=tests&key=busy";

    private final CountDownLatch end = new CountDownLatch(1);
    private int number;

    @Test
    void the_heap_does_not_grow_with_the_number_of_patches_connections_and_screens() throws Exception {
        try (Console console = FastConsole.start();
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                        .defaultMaxConcurrencyPerGroup(1)
                        .addListener(console.listener("tests"))
                        .build())) {
            console.watch("tests", executor);
            executor.submit("busy", "holder", this::work);
            follow(console, executor, 10);
            long before = heap();

            follow(console, executor, 40);

            assertThat(heap() - before).isLessThan(500_000);
            end.countDown();
        }
    }

    private String work() throws InterruptedException {
        end.await();
        return "done";
    }

    /** Opens so many connections; each receives 50 patches, of one row each, and other screens are opened meanwhile. */
    private void follow(Console console, GroupExecutor executor, int connections) throws Exception {
        for (int i = 0; i < connections; i++) {
            try (RawClient group = RawClient.stream(console.uri(), GROUP)) {
                ObjectNode state = NOTHING;
                for (int patch = 0; patch < 50; patch++) {
                    TaskHandle<String> task = executor.submit("busy", "waiter-" + ++number, this::work);
                    String name = task.taskId();
                    state = RawClient.await(
                            group, state, now -> now.path("waiting").toString().contains(name));
                    task.cancel(true);
                }
                for (String view : new String[] {"groups", "failures", "pools", "scopes", "flows"}) {
                    try (RawClient other = RawClient.stream(console.uri(), "view=" + view)) {
                        assertThat(RawClient.await(other, NOTHING, now -> now.has("summary")))
                                .isNotNull();
                    }
                }
            }
        }
    }

    /** Returns the bytes of reachable objects. What a cleaner keeps, such as a socket, goes with a later collection. */
    private static long heap() {
        long least = Long.MAX_VALUE;
        for (int collections = 0; collections < 5; collections++) {
            System.gc();
            least = Math.min(
                    least,
                    Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return least;
    }
}
