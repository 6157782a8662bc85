package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rate;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random calls of the script, and after each of them the invariants of its overview, read from the keys themselves. */
class ScriptModelTest {

    /*
     * Overview.
     *
     * Three instances send random operations for a few groups, for tickets of up to three permits, repeat calls and
     * send old ones; limits, the cap and rates change; instances become silent until their next call, or die and are
     * followed by others. The lease is an hour, and death is the removal of that hour from `exp`, so nothing depends on
     * real time except that rates of one task per hour allow none during the test. What an instance was granted is the
     * sum of its answers, counted apart from the keys.
     */
    private static final String[] GROUPS = {"x", "y", "z", "rated"};
    private static final int STEPS = 250;

    private static RedisServer server;
    private static RedisClient client;
    private static RedisCommands<String, String> redis;

    private final List<Instance> instances = new ArrayList<>();
    private final Map<String, Integer> granted = new HashMap<>(); // id|group -> permits by answers
    private String namespace;
    private Random random;
    private int ids;

    @BeforeAll
    static void start() {
        server = RedisServer.start(ServerKind.newest(), RedisServer.Options.PLAIN);
        client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
        redis = client.connect().sync();
    }

    @AfterAll
    static void stop() {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        server.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void the_invariants_hold_after_every_call(long seed) throws Exception {
        namespace = "model" + seed;
        random = new Random(seed);
        redis.hset(key("meta"), "inc", "1"); // a namespace whose quarantine is over
        for (int i = 0; i < 3; i++) {
            instances.add(newInstance());
        }
        Instance admin = new Instance(server, namespace, "admin.0");
        try (admin) {
            admin.ttl = 3_600_000;
            admin.configure(
                    "r:rated", Rates.write(Rate.of(1, Duration.ofHours(1)).burst(6)));
            for (int step = 0; step < STEPS; step++) {
                String action = act(admin);
                try {
                    checkInvariants();
                } catch (AssertionError e) {
                    throw new AssertionError("seed " + seed + ", step " + step + ": " + action + "\n" + content(), e);
                }
            }
            leave();
            admin.call("l");
        } finally {
            instances.forEach(Instance::close);
        }
        assertThat(redis.keys(key("*"))).isSubsetOf(key("meta"), key("conf"), key("rate"), key("due"));
        assertThat(redis.hkeys(key("meta"))).noneMatch(field -> field.contains(":"));
    }

    private String key(String name) {
        return "{" + namespace + "}:" + name;
    }

    private Instance newInstance() throws Exception {
        Instance instance = new Instance(server, namespace, "i" + ids++ + ".1");
        instance.ttl = 3_600_000;
        instance.isFresh = true;
        instance.call();
        instance.isFresh = false;
        return instance;
    }

    // Actions.

    private String act(Instance admin) throws Exception {
        int which = random.nextInt(instances.size());
        Instance instance = instances.get(which);
        int kind = random.nextInt(100);
        if (kind < 70) {
            String[] operations = operations(instance);
            count(instance, instance.call(operations));
            if (random.nextInt(4) == 0) {
                int other = (which + 1) % instances.size();
                endLease(instances.get(other));
                instance.again(operations); // the answer is the same, and what it grants is in a message
                replace(other);
            }
            return instance.id + " " + List.of(operations);
        } else if (kind < 75 && instance.number > 1) {
            instance.number--;
            assertThat(instance.again("a x 3")).isEmpty();
            instance.number++;
            return instance.id + " sends an old call";
        } else if (kind < 80) {
            endLease(instance);
            replace(which);
            return instance.id + " dies";
        } else if (kind < 87) {
            silence(instance);
            return instance.id + " is silent";
        }
        String field = List.of("*", "?", "l:x", "l:y", "l:rated").get(random.nextInt(5));
        String value = random.nextInt(4) == 0 ? "" : "" + (1 + random.nextInt(8));
        if (random.nextInt(6) == 0) {
            field = "r:z";
            value = value.isEmpty()
                    ? ""
                    : Rates.write(Rate.of(1, Duration.ofHours(1)).burst(Integer.parseInt(value)));
        }
        admin.configure(field, value);
        return field + " = " + value;
    }

    private void endLease(Instance instance) {
        redis.zadd(key("exp"), 1, instance.id);
        redis.hset(key("meta"), "base", "1");
    }

    /** Lets a third of the lease pass for an instance, and the next call of another one notice that. */
    private void silence(Instance instance) throws Exception {
        redis.hset(key("meta"), "h:" + instance.id, "1");
        if (redis.zscore(key("due"), "s:" + instance.id) != null) {
            redis.zadd(key("due"), 1, "s:" + instance.id);
        }
        Instance other = instances.get((instances.indexOf(instance) + 1) % instances.size());
        count(other, other.call("a x 0 1", "a y 0 1", "a z 0 1", "a rated 0 1")); // others pass it now
        assertThat(redis.hget(key("meta"), "o:" + instance.id))
                .as("offers of a silent instance")
                .isNull();
    }

    private void replace(int which) throws Exception {
        Instance dead = instances.set(which, newInstance());
        dead.close();
        granted.keySet().removeIf(field -> field.startsWith(dead.id + "|"));
    }

    private String[] operations(Instance instance) {
        List<String> operations = new ArrayList<>();
        Map<String, Integer> returned = new HashMap<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            String group = GROUPS[random.nextInt(GROUPS.length)];
            int held = held(instance.id, group) - returned.getOrDefault(group, 0);
            switch (random.nextInt(7)) {
                case 0, 1 -> operations.add("a " + group + " " + random.nextInt(5) + " " + (1 + random.nextInt(3)));
                case 2, 3, 4 -> {
                    int permits = held == 0 ? 0 : 1 + random.nextInt(held);
                    returned.merge(group, permits, Integer::sum);
                    operations.add(
                            "r " + group + " " + permits + " " + (permits == 0 ? 0 : random.nextInt(permits + 1)));
                    granted.merge(instance.id + "|" + group, -permits, Integer::sum);
                }
                case 5 -> operations.add("c " + group + " " + (1 + random.nextInt(3)));
                default -> operations.add("q " + group);
            }
        }
        return operations.toArray(String[]::new);
    }

    private void leave() throws Exception {
        for (Instance instance : instances) {
            instance.call("l");
        }
    }

    private void count(Instance instance, List<List<String>> results) {
        Instance.grants(results)
                .forEach((group, permits) -> granted.merge(instance.id + "|" + group, permits, Integer::sum));
    }

    // Invariants.

    private int held(String id, String group) {
        String record = redis.hget(key("held"), id + "|" + group);
        return record == null ? 0 : Integer.parseInt(record.split(" ")[0]);
    }

    /** Returns how many permits of each group the instances are offered, and those of one group by instance. */
    private Map<String, Integer> offers(String id) {
        Map<String, Integer> sums = new TreeMap<>();
        redis.hgetall(key("meta")).forEach((field, lines) -> {
            if (field.startsWith("o:" + id)) {
                lines.lines().map(line -> line.split(" ")).forEach(offer -> {
                    sums.merge(offer[0], Integer.parseInt(offer[2]), Integer::sum);
                    sums.merge("*", Integer.parseInt(offer[2]), Integer::sum);
                });
            }
        });
        return sums;
    }

    private void checkInvariants() {
        Map<String, String> held = redis.hgetall(key("held"));
        Map<String, Integer> sums = new TreeMap<>();
        Map<String, Integer> tickets = new TreeMap<>();
        Set<String> fields = new TreeSet<>();
        held.forEach((field, record) -> {
            String[] parts = record.split(" ");
            int permits = Integer.parseInt(parts[0]);
            assertThat(permits + Integer.parseInt(parts[2]))
                    .as(field + " is empty")
                    .isPositive();
            if (permits > 0) {
                sums.merge(field.substring(field.indexOf('|') + 1), permits, Integer::sum);
                sums.merge("*", permits, Integer::sum);
            }
            if (!parts[2].equals("0")) {
                tickets.put(field, Integer.parseInt(parts[2]));
            }
            fields.add(field.replace('|', '\0'));
        });
        offers("").forEach((group, permits) -> sums.merge(group, permits, Integer::sum));
        Map<String, Integer> used = new TreeMap<>();
        redis.hgetall(key("used")).forEach((group, permits) -> used.put(group, Integer.parseInt(permits)));
        assertThat(used).as("used is the sum of held and offers").isEqualTo(sums);
        assertThat(new TreeSet<>(redis.zrange(key("own"), 0, -1)))
                .as("own has the fields of held")
                .isEqualTo(fields);
        checkTickets(tickets, used);
        checkGrants(held);
        checkKeys();
    }

    private void checkKeys() {
        StringBuilder exists = new StringBuilder();
        for (String each : new Keys(namespace).all()) {
            exists.append(redis.exists(each));
        }
        assertThat(redis.hget(key("meta"), "keys").split(" ")[1] + "1")
                .as("the keys that the next call expects")
                .isEqualTo(exists.toString());
    }

    private void checkTickets(Map<String, Integer> tickets, Map<String, Integer> used) {
        Set<String> living = new TreeSet<>(redis.zrange(key("exp"), 0, -1));
        Map<String, Integer> waiting = new TreeMap<>();
        Map<String, Integer> first = new TreeMap<>(); // group -> the permits that its first ticket needs
        for (String ticket : redis.zrange(key("wait"), 0, -1)) {
            String[] parts = ticket.split("\0");
            if (living.contains(parts[2])) {
                waiting.merge(parts[2] + "|" + parts[0], 1, Integer::sum);
                if (isOpen(parts[2], parts[0])) {
                    first.putIfAbsent(parts[0], size(parts[2], parts[0]));
                }
            }
        }
        String turn = redis.zrange(key("ready"), 0, 0).stream().findFirst().orElse("");
        int reserved = first.getOrDefault(turn, 1);
        assertThat(tickets).as("tickets in held are those in wait").isEqualTo(waiting);
        first.forEach((group, permits) -> {
            boolean isFull = used.getOrDefault(group, 0) + permits > limit(group)
                    || used.getOrDefault("*", 0) + reserved > setting("*")
                    || isThrottled(group, permits);
            assertThat(isFull).as("a ticket of " + group + " waits beside room").isTrue();
        });
    }

    private int size(String id, String group) {
        String[] parts = redis.hget(key("held"), id + "|" + group).split(" ");
        return Math.min(parts.length == 4 ? Integer.parseInt(parts[3]) : 1, Math.min(limit(group), setting("*")));
    }

    /** Returns whether the instance has called, and has no offers of the group beyond its share. */
    private boolean isOpen(String id, String group) {
        int offered = offers(id).getOrDefault(group, 0);
        boolean isHeard = !"1".equals(redis.hget(key("meta"), "h:" + id));
        long instancesNow = redis.zcard(key("exp"));
        int most = Math.min(limit(group), setting("*"));
        return isHeard && (offered == 0 || (offered + size(id, group)) * instancesNow <= most);
    }

    private int limit(String group) {
        String own = redis.hget(key("conf"), "l:" + group);
        return own == null ? setting("?") : Integer.parseInt(own);
    }

    private int setting(String field) {
        String value = redis.hget(key("conf"), field);
        return value == null ? RedisFleet.HIGHEST_LIMIT : Integer.parseInt(value);
    }

    private boolean isThrottled(String group, int permits) {
        String rate = redis.hget(key("conf"), "r:" + group);
        String bucket = redis.hget(key("rate"), group);
        if (rate == null || bucket == null) {
            return false;
        }
        String[] parts = rate.split(" ");
        long cost = Long.parseLong(parts[0]);
        long room = Long.parseLong(parts[2]) * cost - Long.parseLong(bucket.split(" ")[0]);
        long needed = Math.min(permits, Long.parseLong(parts[2])) * cost;
        boolean isThrottled = room < needed;
        if (isThrottled) {
            assertThat(redis.zscore(key("due"), "d:" + group))
                    .as("a throttled group is due")
                    .isNotNull();
        }
        return isThrottled || room < needed + cost / 1000; // what has flowed out meanwhile
    }

    /** What instances were told is what they hold: nothing is granted without an answer. */
    private void checkGrants(Map<String, String> held) {
        for (Instance instance : instances) {
            for (String group : GROUPS) {
                String field = instance.id + "|" + group;
                int permits = held.containsKey(field)
                        ? Integer.parseInt(held.get(field).split(" ")[0])
                        : 0;
                assertThat(granted.getOrDefault(field, 0))
                        .as("grants of " + field)
                        .isEqualTo(permits);
            }
        }
    }

    private String content() {
        return redis.hgetall(key("used")) + "\n" + redis.hgetall(key("held")) + "\n" + redis.hgetall(key("conf")) + "\n"
                + redis.zrange(key("wait"), 0, -1).stream()
                        .map(ticket -> ticket.replace('\0', '/'))
                        .collect(Collectors.joining(" "))
                + "\n"
                + redis.zrangeWithScores(key("ready"), 0, -1).stream()
                        .map(ScoredValue::toString)
                        .toList()
                + "\n" + redis.hgetall(key("meta")) + "\n" + redis.hgetall(key("rate"))
                + redis.zrangeWithScores(key("due"), 0, -1);
    }
}
