package dev.raddle.redis;

import io.lettuce.core.RedisURI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** An instance of a fleet that calls the script directly, for tests of the script. */
final class Instance implements AutoCloseable {

    final String id;
    final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final Server server;
    private final Link link;
    private final Keys keys;
    int number = 0;
    String incarnation = "";
    long ttl = 60_000;
    boolean isFresh;
    List<String> header = List.of();

    Instance(RedisServer at, String namespace, String id) throws Exception {
        this.id = id;
        keys = new Keys(namespace);
        server = Server.at(RedisURI.create("127.0.0.1", at.port()));
        link = server.connect(keys, keys.channelPrefix() + id.replaceFirst("\\..*", ""), messages::add, () -> {});
    }

    /** Sends a batch of operations, each "op group n m". */
    List<List<String>> call(String... operations) throws Exception {
        number++;
        return again(operations);
    }

    /** Sends a batch with the number of the last one. */
    List<List<String>> again(String... operations) throws Exception {
        List<String> args = new ArrayList<>(List.of(
                id,
                "" + number,
                "" + ttl,
                "" + ttl,
                incarnation,
                isFresh ? "1" : "0",
                link.publish(),
                keys.channelPrefix(),
                "name-" + id,
                "0"));
        for (String operation : operations) {
            String[] parts = operation.split(" ");
            for (int i = 0; i < 4; i++) {
                args.add(i < parts.length ? parts[i] : i == 1 ? "" : "0");
            }
        }
        List<Object> answer = link.call(ServerScript.Function.BATCH, args.toArray(String[]::new))
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
        header = answer.stream()
                .filter(each -> each instanceof String)
                .map(String::valueOf)
                .toList();
        incarnation = header.get(1);
        List<List<String>> results = new ArrayList<>();
        for (Object each : (List<?>) answer.getLast()) {
            List<?> entry = each instanceof String text ? List.of(text.split(" ", -1)) : (List<?>) each;
            results.add(entry.stream().map(String::valueOf).toList());
        }
        return results;
    }

    void configure(String field, String value) throws Exception {
        link.call(ServerScript.Function.CONFIGURE, "" + ttl, keys.channelPrefix(), field, value)
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
    }

    /** Sends a batch and returns how many permits of each group it was granted. */
    Map<String, Integer> granted(String... operations) throws Exception {
        return grants(call(operations));
    }

    static Map<String, Integer> grants(List<List<String>> results) {
        Map<String, Integer> granted = new LinkedHashMap<>();
        for (List<String> result : results) {
            if (result.get(0).equals("g")) {
                granted.merge(result.get(1), Integer.parseInt(result.get(2)), Integer::sum);
            }
        }
        return granted;
    }

    /** Waits for the next message, calls, and returns what it is granted, as "group permits ...". */
    List<String> message() throws Exception {
        if (messages.poll(20, TimeUnit.SECONDS) == null) {
            throw new AssertionError("no message");
        }
        return call().stream()
                .filter(result -> result.get(0).equals("g"))
                .map(result -> String.join(" ", result.subList(1, result.size())))
                .toList();
    }

    String state() {
        return header.get(0);
    }

    @Override
    public void close() {
        server.close(link);
    }
}
