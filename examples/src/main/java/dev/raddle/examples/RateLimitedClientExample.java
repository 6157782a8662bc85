package dev.raddle.examples;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.Rate;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Calls two servers no faster than each of them allows, and pauses for as long as a server asks for. */
public final class RateLimitedClientExample {

    private static final int TOO_MANY_REQUESTS = 429;

    /**
     * A call of a server.
     *
     * @param host the server, which has a rate of its own
     * @param path what is called
     * @param cost how much of the rate the call takes
     */
    public record Call(String host, String path, int cost) {}

    /**
     * The answer of a server.
     *
     * @param status the HTTP status
     * @param retryAfter the time after which a refused call may be repeated
     */
    public record Answer(int status, Duration retryAfter) {}

    /** A client of the servers. Several threads call it concurrently. */
    @FunctionalInterface
    public interface Client {
        /**
         * Calls a server and waits for its answer.
         *
         * @param call the call
         * @return the answer
         * @throws Exception if there is none
         */
        Answer send(Call call) throws Exception;
    }

    private RateLimitedClientExample() {}

    /**
     * Prints how often each path was called. The server refuses the third call that it receives.
     *
     * @param args none
     * @throws Exception if a call fails
     */
    public static void main(String[] args) throws Exception {
        AtomicInteger received = new AtomicInteger();
        Client client =
                call -> new Answer(received.incrementAndGet() == 3 ? TOO_MANY_REQUESTS : 200, Duration.ofMillis(300));
        List<Call> calls = new ArrayList<>();
        for (int page = 1; page <= 4; page++) {
            calls.add(new Call("search", "/page/" + page, 1));
        }
        calls.add(new Call("archive", "/export", 5)); // counts as five small calls
        callAll(calls, client, TimeSource.system())
                .forEach((path, attempts) -> System.out.println(path + " called " + attempts + " times"));
    }

    /**
     * Makes calls, and repeats those that are refused because there were too many.
     *
     * @param calls the calls, with different paths
     * @param client the client
     * @param time the time source
     * @return how often each path was called
     * @throws Exception if a call fails
     */
    public static Map<String, Integer> callAll(List<Call> calls, Client client, TimeSource time) throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(8)
                .perGroupRate(
                        Map.of("search", Rate.perSecond(10).burst(2), "archive", Rate.of(60, Duration.ofMinutes(1))))
                .timeSource(time)
                .build();
        Map<String, Integer> attempts = new LinkedHashMap<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<Call> left = calls;
            while (!left.isEmpty()) {
                left.forEach(call -> attempts.merge(call.path(), 1, Integer::sum));
                left = refused(executor, left, client);
            }
        }
        return attempts;
    }

    /** Makes each call once, and returns those that are to be repeated. */
    private static List<Call> refused(GroupExecutor executor, List<Call> calls, Client client) throws Exception {
        Map<Call, TaskHandle<Answer>> handles = new LinkedHashMap<>();
        for (Call call : calls) {
            TaskSpec<Answer> spec = TaskSpec.named(call.path(), () -> send(executor, call, client))
                    .cost(call.cost());
            handles.put(call, executor.submit(call.host(), spec));
        }
        List<Call> refused = new ArrayList<>();
        for (Map.Entry<Call, TaskHandle<Answer>> each : handles.entrySet()) {
            GroupResult<Answer> result = each.getValue().await();
            Answer answer = result.value();
            if (answer == null) {
                throw new IOException(each.getKey() + " failed", result.error());
            }
            if (answer.status() == TOO_MANY_REQUESTS) {
                refused.add(each.getKey());
            }
        }
        return refused;
    }

    /** Makes a call. If the server refuses it, the other calls of that server wait, too. */
    private static Answer send(GroupExecutor executor, Call call, Client client) throws Exception {
        Answer answer = client.send(call);
        if (answer.status() == TOO_MANY_REQUESTS) {
            executor.holdGroup(call.host(), answer.retryAfter());
        }
        return answer;
    }
}
