package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.Rate;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The script alone, on each kind of server that is here. */
@ParameterizedClass
@MethodSource("kinds")
class ScriptTest {

    private static final AtomicInteger namespaces = new AtomicInteger();

    private static RedisServer server;
    private static RedisClient client;
    private static RedisCommands<String, String> redis;
    private String namespace;
    private final List<Instance> instances = new ArrayList<>();

    ScriptTest(ServerKind kind) {}

    static List<ServerKind> kinds() {
        return ServerKind.all();
    }

    @BeforeParameterizedClassInvocation
    static void start(ServerKind kind) {
        server = RedisServer.start(kind, RedisServer.Options.PLAIN);
        client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
        redis = client.connect().sync();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        client.shutdown();
        server.close();
    }

    @BeforeEach
    void openNamespace() {
        namespace = "test" + namespaces.incrementAndGet();
        redis.hset(key("meta"), "inc", "1"); // a namespace whose quarantine is over
    }

    @AfterEach
    void closeInstances() {
        instances.forEach(Instance::close);
        instances.clear();
    }

    private String key(String name) {
        return "{" + namespace + "}:" + name;
    }

    private Instance instance(String id) throws Exception {
        Instance instance = new Instance(server, namespace, id);
        instances.add(instance);
        return instance;
    }

    private void limit(String group, int limit) {
        redis.hset(key("conf"), "l:" + group, "" + limit);
    }

    private static List<String> entry(List<List<String>> results, String kind) {
        return results.stream()
                .filter(each -> each.get(0).equals(kind))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void no_more_permits_are_granted_than_the_limit_over_all_instances() throws Exception {
        limit("g", 3);
        Instance a = instance("a.1");
        Instance b = instance("b.1");

        assertThat(a.granted("a g 2")).isEqualTo(Map.of("g", 2));
        assertThat(b.granted("a g 2")).isEqualTo(Map.of("g", 1));
        assertThat(redis.hget(key("used"), "g")).isEqualTo("3");
    }

    @Test
    void a_returned_permit_goes_to_the_oldest_ticket_of_the_group() throws Exception {
        limit("g", 1);
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        Instance c = instance("c.1");
        a.call("a g 1");
        b.call("a g 1");
        c.call("a g 1");

        assertThat(a.granted("r g 1 0", "a g 1")).isEmpty();
        assertThat(b.message()).singleElement().asString().startsWith("g 1 ");
        b.call("r g 1 0");
        assertThat(c.message()).singleElement().asString().startsWith("g 1 ");
        c.call("r g 1 0");
        assertThat(a.message()).singleElement().asString().startsWith("g 1 ");
    }

    @Test
    void under_a_cap_the_groups_take_turns() throws Exception {
        redis.hset(key("conf"), "*", "1");
        Instance a = instance("a.1");
        assertThat(a.granted("a x 1")).isEqualTo(Map.of("x", 1));
        Instance b = instance("b.1");
        assertThat(b.granted("a x 3", "a y 3", "a z 3")).isEmpty();
        a.call("r x 1 0");

        List<String> order = new ArrayList<>(List.of(b.message().get(0).split(" ")[0]));
        while (order.size() < 6) {
            order.addAll(b.granted("r " + order.getLast() + " 1 0").keySet());
        }

        assertThat(order).containsExactly("x", "y", "z", "x", "y", "z");
    }

    @Test
    void the_sum_of_all_groups_never_exceeds_the_cap() throws Exception {
        redis.hset(key("conf"), "*", "4");
        Instance a = instance("a.1");

        Map<String, Integer> granted = a.granted("a x 3", "a y 3", "a z 3");

        assertThat(granted.values().stream().mapToInt(i -> i).sum()).isEqualTo(4);
        assertThat(redis.hget(key("used"), "*")).isEqualTo("4");
    }

    @Test
    void a_lowered_limit_takes_effect_as_permits_are_returned() throws Exception {
        limit("g", 3);
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        a.call("a g 3");
        b.call("a g 1");
        b.configure("l:g", "1");

        a.call("r g 1 0");
        a.call("r g 1 0");
        assertThat(redis.hget(key("used"), "g")).isEqualTo("1");
        a.call("r g 1 0");

        assertThat(b.message()).singleElement().asString().startsWith("g 1 ");
    }

    @Test
    void a_raised_limit_serves_waiting_instances_at_once() throws Exception {
        limit("g", 1);
        Instance a = instance("a.1");
        a.call("a g 1");
        Instance b = instance("b.1");
        b.call("a g 1");

        a.configure("l:g", "2");

        assertThat(b.message()).singleElement().asString().startsWith("g 1 ");
    }

    @Test
    void a_raised_cap_serves_waiting_groups_at_once() throws Exception {
        Instance a = instance("a.1");
        a.configure("*", "1");
        a.call("a x 1");
        Instance b = instance("b.1");
        b.call("a y 1");

        a.configure("*", "");

        assertThat(b.message()).singleElement().asString().startsWith("y 1 ");
        assertThat(redis.exists(key("ready"))).isZero();
    }

    @Test
    void fencing_numbers_increase_over_all_groups_and_instances() throws Exception {
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        long last = 0;
        for (int i = 0; i < 50; i++) {
            List<String> grant = entry((i % 2 == 0 ? a : b).call("a g" + i % 3 + " 2"), "g");
            long fence = Long.parseLong(grant.get(3));
            assertThat(fence - 1).isGreaterThan(last);
            last = fence;
        }
    }

    @Test
    void a_repeated_call_is_executed_once_and_gets_the_same_answer() throws Exception {
        limit("g", 5);
        Instance a = instance("a.1");
        List<List<String>> first = a.call("a g 2");

        List<List<String>> second = a.again("a g 2");

        assertThat(second).isEqualTo(first);
        assertThat(redis.hget(key("used"), "g")).isEqualTo("2");
        a.call("r g 1 0");
        a.again("r g 1 0");
        assertThat(redis.hget(key("used"), "g")).isEqualTo("1");
    }

    @Test
    void a_call_with_an_older_number_is_not_executed() throws Exception {
        Instance a = instance("a.1");
        a.call("a g 2");
        a.call("a g 1");
        a.number = 1;

        assertThat(a.again("r g 1 0")).isEmpty();

        assertThat(a.state()).isEqualTo("old");
        assertThat(redis.hget(key("used"), "g")).isEqualTo("3");
    }

    @Test
    void what_a_repeated_call_grants_is_offered_because_its_answer_may_not_be_read() throws Exception {
        Instance a = waitingFor("dead.1");

        List<List<String>> answer = a.again("a g 1");

        assertThat(Instance.grants(answer)).isEmpty();
        assertThat(a.message()).singleElement().asString().startsWith("g 1 ");
    }

    @Test
    void what_a_call_grants_that_arrives_after_the_next_one_is_offered() throws Exception {
        Instance a = waitingFor("dead.1");
        redis.hset(key("meta"), "c:a.1", "2");

        a.again("a g 1");

        assertThat(a.state()).isEqualTo("old");
        a.number = 2;
        assertThat(a.message()).singleElement().asString().startsWith("g 1 ");
    }

    /** Returns an instance with a ticket for the only permit of g, whose holder has died without being buried yet. */
    private Instance waitingFor(String holder) throws Exception {
        limit("g", 1);
        instance(holder).call("a g 1");
        Instance waiting = instance("a.1");
        waiting.call("a g 1");
        redis.zadd(key("exp"), -1, holder);
        return waiting;
    }

    @Test
    void a_call_that_failed_in_its_midst_is_not_executed_again() throws Exception {
        Instance a = instance("a.1");
        a.call("a g 2");
        assertThatThrownBy(() -> a.call("r g 1 0", "nonsense g 1 0"))
                .hasMessageContaining("unknown operation nonsense");

        a.again("r g 1 0", "nonsense g 1 0");

        assertThat(a.state()).isEqualTo("lost");
        assertThat(redis.hget(key("used"), "g")).isEqualTo("1");
    }

    @Test
    void the_permits_of_a_dead_instance_go_to_those_who_wait() throws Exception {
        limit("g", 2);
        Instance dead = instance("dead.1");
        dead.call("a g 2");
        Instance b = instance("b.1");
        b.call("a g 2");
        redis.zadd(key("exp"), -1, "dead.1");

        Map<String, Integer> granted = b.granted();

        assertThat(granted).isEqualTo(Map.of("g", 2));
        assertThat(redis.hkeys(key("held"))).containsExactly("b.1|g");
        assertThat(redis.hkeys(key("meta"))).noneMatch(field -> field.contains("dead.1"));
    }

    @Test
    void what_is_left_of_dead_instances_after_a_call_is_due_at_once() throws Exception {
        redis.hset(key("conf"), "?", "1");
        for (int i = 0; i < 6; i++) {
            Instance dying = instance("dead" + i + ".1");
            dying.call("a small" + i + " 1");
        }
        Instance large = instance("large.1");
        large.call(IntStream.range(0, 1200).mapToObj(i -> "a g" + i + " 1").toArray(String[]::new));
        Instance survivor = instance("survivor.1");
        survivor.call("a g1199 1");
        assertThat(survivor.header.get(4)).isEqualTo("-1");
        instances.stream().filter(each -> each != survivor).forEach(each -> redis.zadd(key("exp"), 1, each.id));
        redis.hset(key("meta"), "base", "1");

        int calls = 0;
        do {
            survivor.call();
            calls++;
        } while (survivor.header.get(4).equals("0"));

        assertThat(calls).isGreaterThan(1);
        assertThat(redis.hgetall(key("used"))).isEqualTo(Map.of("g1199", "1", "*", "1"));
        assertThat(redis.zrange(key("exp"), 0, -1)).containsExactly("survivor.1");
    }

    @Test
    void what_an_instance_holds_does_not_grow_until_it_calls() throws Exception {
        limit("g", 12);
        List<Instance> four = List.of(instance("a.1"), instance("b.1"), instance("c.1"), instance("killed.1"));
        for (Instance each : four) {
            each.call("a g 3 1");
        }
        for (Instance each : four) {
            each.call("a g 12 1");
        }
        for (int round = 0; round < 5; round++) {
            for (Instance each : four.subList(0, 3)) {
                int held = held(each);
                each.call("r g " + held + " 0", "a g " + held + " 1");
            }
        }

        assertThat(held(four.getLast())).isEqualTo(3);
        assertThat(four.subList(0, 3).stream().mapToInt(this::held).sum()).isEqualTo(6);
        assertThat(redis.hget(key("meta"), "o:killed.1").lines()).hasSize(3); // its share, and nobody else's
    }

    @Test
    void offers_of_a_silent_instance_are_taken_back_and_its_tickets_keep_their_places() throws Exception {
        limit("g", 2);
        Instance a = instance("a.1");
        Instance silent = instance("silent.1");
        Instance b = instance("b.1");
        a.call("a g 2 1");
        silent.call("a g 2 1");
        b.call("a g 2 1");
        a.call("r g 1 0");
        assertThat(redis.hget(key("used"), "g")).isEqualTo("2");

        passAThirdOfTheLease(silent);
        assertThat(b.granted()).isEqualTo(Map.of("g", 1));
        a.call("r g 1 0");
        assertThat(b.granted()).isEqualTo(Map.of("g", 1));
        b.call("a g 2 1");
        assertThat(redis.hget(key("held"), "silent.1|g")).startsWith("0 ").endsWith(" 2");
        assertThat(redis.hget(key("meta"), "o:silent.1")).isNull();

        silent.call();
        assertThat(b.granted("r g 2 0")).isEqualTo(Map.of("g", 1));
        assertThat(silent.granted()).isEqualTo(Map.of("g", 1)); // its share
    }

    private int held(Instance instance) {
        return Integer.parseInt(redis.hget(key("held"), instance.id + "|g").split(" ")[0]);
    }

    private void passAThirdOfTheLease(Instance instance) {
        redis.hset(key("meta"), "h:" + instance.id, "1");
        redis.zadd(key("due"), 1, "s:" + instance.id);
    }

    @Test
    void a_call_after_silence_serves_tickets_of_all_its_groups() throws Exception {
        redis.hset(key("conf"), "?", "1");
        Instance holder = instance("holder.1");
        Instance silent = instance("silent.1");
        String[] groups = IntStream.range(0, 700).mapToObj(i -> "g" + i).toArray(String[]::new);
        for (Instance each : List.of(holder, silent)) {
            each.call(Stream.of(groups).map(g -> "a " + g + " 1 1").toArray(String[]::new));
        }
        passAThirdOfTheLease(silent);
        holder.call(Stream.of(groups).map(g -> "r " + g + " 1 0").toArray(String[]::new));

        int granted = silent.granted().size();
        assertThat(silent.header.get(4)).isEqualTo("0"); // the rest is due at once
        granted += silent.granted().size();

        assertThat(granted).isEqualTo(700);
        assertThat(redis.exists(key("wait"))).isZero();
    }

    @Test
    void a_ticket_is_served_whole_and_reserves_what_is_free_until_then() throws Exception {
        limit("g", 4);
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        Instance c = instance("c.1");
        a.call("a g 2 1");

        assertThat(b.granted("a g 2 3")).isEmpty();
        assertThat(c.granted("a g 1 1")).isEmpty(); // two permits are free, but b is before
        a.call("r g 1 0");
        assertThat(b.granted()).isEqualTo(Map.of("g", 3));
        assertThat(c.granted()).isEmpty();
        a.call("r g 1 0");
        assertThat(c.granted()).isEmpty(); // the next one of b is before
        assertThat(b.granted("r g 3 0")).isEqualTo(Map.of("g", 3));
        assertThat(c.granted()).isEqualTo(Map.of("g", 1));
    }

    @Test
    void a_ticket_under_a_cap_is_served_whole_and_keeps_the_turn_until_then() throws Exception {
        redis.hset(key("conf"), "*", "4");
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        a.call("a x 3 1");

        assertThat(b.granted("a y 1 3", "a z 1 1")).isEmpty();
        a.call("r x 1 0");
        assertThat(b.granted()).isEmpty();
        a.call("r x 1 0");

        assertThat(b.granted()).isEqualTo(Map.of("y", 3));
        a.call("r x 1 0");
        assertThat(b.granted()).isEqualTo(Map.of("z", 1));
    }

    @Test
    void a_ticket_that_costs_more_than_the_burst_waits_for_a_full_bucket_and_delays_what_follows() throws Exception {
        Instance a = instance("a.1");
        a.configure("r:g", Rates.write(Rate.of(1, Duration.ofHours(1)).burst(2)));

        assertThat(a.granted("a g 1 5")).isEqualTo(Map.of("g", 5));
        assertThat(a.granted("a g 1 1")).isEmpty();

        assertThat(Long.parseLong(a.header.get(4))).isBetween(4 * 3_599_000_000L, 4 * 3_600_000_000L);
    }

    @Test
    void groups_without_a_rate_have_the_default_rate() throws Exception {
        Instance a = instance("a.1");
        a.configure("r:own", Rates.write(Rate.of(1, Duration.ofHours(1)).burst(4)));
        a.configure("?r", Rates.write(Rate.of(1, Duration.ofHours(1)).burst(3)));
        assertThat(a.granted("a g 5 1", "a own 5 1")).isEqualTo(Map.of("g", 3, "own", 4));

        a.configure("?r", Rates.write(Rate.of(1, Duration.ofHours(1)).burst(5)));
        assertThat(a.granted()).isEqualTo(Map.of("g", 2)); // what was used counts
        a.configure("?r", "");
        assertThat(redis.hkeys(key("rate"))).containsExactly("own");
        assertThat(a.granted("a h 9 1")).isEqualTo(Map.of("h", 9));
    }

    @Test
    void an_id_whose_lease_has_ended_is_never_revived() throws Exception {
        Instance a = instance("a.1");
        a.call("a g 2");
        redis.zadd(key("exp"), -1, "a.1");
        instance("b.1").call();

        a.call("a g 1");

        assertThat(a.state()).isEqualTo("lost");
        assertThat(redis.exists(key("used"))).isZero();
    }

    @Test
    void tickets_of_a_dead_instance_are_skipped() throws Exception {
        limit("g", 1);
        Instance a = instance("a.1");
        Instance dead = instance("dead.1");
        Instance c = instance("c.1");
        a.call("a g 1");
        dead.call("a g 1");
        c.call("a g 1");
        redis.zadd(key("exp"), -1, "dead.1");

        a.call("r g 1 0");

        assertThat(c.message()).singleElement().asString().startsWith("g 1 ");
        assertThat(redis.exists(key("wait"))).isZero();
    }

    @Test
    void after_a_silence_every_instance_has_a_whole_lease_to_renew() throws Exception {
        Instance a = instance("a.1");
        a.call("a g 2");
        Instance b = instance("b.1");
        b.call();
        long now = Long.parseLong(redis.hget(key("meta"), "last"));
        redis.hset(key("meta"), "last", "" + (now - 100_000_000)); // the server was stopped for 100 s
        redis.zadd(key("exp"), now / 1000.0 - 40_000, "a.1");

        b.call();
        a.call();

        assertThat(a.state()).isEqualTo("ok");
        assertThat(redis.hget(key("used"), "g")).isEqualTo("2");
    }

    @Test
    void time_never_goes_back_and_the_answer_says_by_how_much_the_clock_did() throws Exception {
        Instance a = instance("a.1");
        a.call();
        long ahead = Long.parseLong(redis.hget(key("meta"), "last")) + 3_600_000_000L;
        redis.hset(key("meta"), "last", "" + ahead);

        a.call();

        assertThat(Long.parseLong(redis.hget(key("meta"), "last"))).isEqualTo(ahead);
        assertThat(Long.parseLong(a.header.get(5))).isBetween(3_500_000_000L, 3_600_000_000L);
        a.call();
        assertThat(Long.parseLong(redis.hget(key("meta"), "last"))).isGreaterThan(ahead);
    }

    @Test
    void after_the_clock_was_set_back_the_permits_of_a_dead_instance_return_within_two_leases() throws Exception {
        Instance dead = instance("dead.1");
        dead.call("a g 2");
        Instance b = instance("b.1");
        b.call();
        long hour = 3_600_000_000L;
        redis.hset(key("meta"), "last", "" + (Long.parseLong(redis.hget(key("meta"), "last")) + hour));
        for (String instance : List.of("dead.1", "b.1")) {
            redis.zincrby(key("exp"), hour / 1000.0, instance);
        }
        b.call(); // the clock is an hour behind
        long part = dead.ttl * 1000L / 4; // of a lease
        for (int passed = 0; passed < 8; passed++) {
            redis.hincrby(key("meta"), "ahead", part);
            b.call();
        }
        assertThat(redis.zscore(key("exp"), "dead.1")).isNull();
        assertThat(redis.hget(key("used"), "g")).isNull();
    }

    @Test
    void an_empty_namespace_grants_nothing_for_the_longest_lease_that_any_instance_knows() throws Exception {
        redis.del(key("meta"));
        Instance a = instance("a.1");
        a.ttl = 3_600_000;

        assertThat(a.granted("a g 1")).isEmpty();
        Instance b = instance("b.1");
        b.ttl = 100;
        assertThat(b.granted("a g 1")).isEmpty();

        assertThat(Long.parseLong(b.header.get(2))).isGreaterThan(3_500_000);
        assertThat(b.header.get(3)).isEqualTo("3600000");
    }

    @Test
    void waiting_groups_are_served_when_the_quarantine_ends() throws Exception {
        redis.del(key("meta"));
        Instance a = instance("a.1");
        a.call("a g 2", "a h 1");
        redis.hset(key("meta"), "quar", "1");

        assertThat(a.granted()).isEqualTo(Map.of("g", 2, "h", 1));
    }

    @Test
    void after_a_loss_of_data_the_first_call_is_not_executed_and_permits_are_reasserted() throws Exception {
        Instance a = instance("a.1");
        limit("g", 2);
        a.call("a g 2");
        redis.flushall();

        assertThat(a.call("r g 1 0")).isEmpty();
        assertThat(a.state()).isEqualTo("new");
        a.call("f l:g 2", "k g 2");
        a.call("f l:g 7");

        assertThat(a.state()).isEqualTo("ok");
        assertThat(redis.hget(key("used"), "g")).isEqualTo("2");
        assertThat(redis.hget(key("conf"), "l:g")).isEqualTo("2");
        redis.hset(key("meta"), "quar", "1");
        assertThat(a.granted("a g 1")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"used", "held", "own", "exp", "conf", "wait", "ready", "rate", "due", "meta"})
    void a_key_that_is_gone_is_named_and_the_namespace_goes_on_as_an_emptied_one(String name) throws Exception {
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        a.configure("*", "3");
        a.configure("l:g", "1");
        a.configure("r:rated", Rates.write(Rate.of(1, Duration.ofHours(1))));
        a.call("a g 1 1", "a rated 1 1", "a x 1 1");
        b.call("a g 1 1", "a x 1 1");
        assertThat(redis.exists(new Keys(namespace).all())).isEqualTo(10);
        long fence = Long.parseLong(redis.hget(key("meta"), "fence"));

        redis.del(key(name));

        assertThat(b.call("a h 1 1")).isEmpty();
        assertThat(b.state()).isEqualTo("new");
        assertThat(b.header.get(7)).isEqualTo(key(name));
        assertThat(redis.exists(key("used"), key("held"), key("own"), key("wait"), key("ready"), key("rate")))
                .isZero();
        a.call();
        assertThat(a.header.subList(0, 1)).containsExactly("new");
        assertThat(a.header.get(7)).isEqualTo(key(name));
        a.call("f * 3", "f l:g 1", "k g 1", "k rated 1", "k x 1");
        assertThat(a.state()).isEqualTo("ok");
        assertThat(a.header.get(7)).isEqualTo(key(name));
        assertThat(redis.hget(key("used"), "*")).isEqualTo("3");
        redis.hset(key("meta"), "quar", "1");
        assertThat(b.granted("a g 1 1")).isEmpty();
        assertThat(b.header.get(7)).isEmpty();
        assertThat(a.granted("r x 1 0", "a x 1 1")).isEqualTo(Map.of("x", 1));
        assertThat(Long.parseLong(redis.hget(key("meta"), "fence"))).isGreaterThan(fence);
    }

    @Test
    void keys_that_are_gone_because_they_are_empty_are_not_missed() throws Exception {
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        a.configure("*", "1");
        a.configure("r:rated", Rates.write(Rate.perSecond(1_000_000)));
        for (int i = 0; i < 50; i++) {
            a.call("a g 1 1", "a rated 1 1");
            assertThat(a.state()).isEqualTo("ok");
            b.call("a g 1 1");
            a.call("r g 1 0", "c rated 1");
            assertThat(b.granted()).isEqualTo(Map.of("g", 1));
            b.call("r g 1 0");
            assertThat(b.state()).isEqualTo("ok");
            a.call("l");
            a = instance("a." + (i + 2));
        }
    }

    @Test
    void a_call_of_a_version_that_does_not_note_its_keys_is_no_loss() throws Exception {
        Instance a = instance("a.1");
        a.call("a g 1");
        redis.hset(key("meta"), "last", "" + (Long.parseLong(redis.hget(key("meta"), "last")) + 1));
        redis.del(key("used"), key("held"), key("own")); // all was returned in that call

        a.call();

        assertThat(a.state()).isEqualTo("ok");
    }

    @Test
    void the_first_call_of_a_connection_is_told_which_keys_the_server_evicts() throws Exception {
        Instance a = instance("a.1");
        a.isFresh = true;
        a.call();
        assertThat(a.header.get(8)).isEqualTo("noeviction");

        a.isFresh = false;
        a.call();

        assertThat(a.header.get(8)).isEmpty();
    }

    @Test
    void another_server_with_the_same_data_is_a_new_incarnation() throws Exception {
        Instance a = instance("a.1");
        a.isFresh = true;
        a.call("a g 1");
        assertThat(redis.hget(key("meta"), "run")).hasSize(40);
        redis.hset(key("meta"), "run", "0123456789012345678901234567890123456789");

        a.call("a g 1");

        assertThat(a.state()).isEqualTo("new");
        assertThat(Long.parseLong(a.header.get(2))).isPositive();
        assertThat(redis.hget(key("used"), "g")).isEqualTo("1");
    }

    @Test
    void reasserting_is_exact_in_both_directions_and_removes_tickets() throws Exception {
        limit("g", 3);
        Instance a = instance("a.1");
        a.call("a g 5");
        assertThat(redis.hget(key("held"), "a.1|g")).startsWith("3 ").endsWith(" 2");

        a.call("k g 1");

        assertThat(redis.hget(key("held"), "a.1|g")).startsWith("1 ").endsWith(" 0");
        assertThat(redis.hgetall(key("used"))).isEqualTo(Map.of("g", "1", "*", "1"));
        assertThat(redis.exists(key("wait"))).isZero();
    }

    @Test
    void cancelling_takes_the_youngest_tickets() throws Exception {
        limit("g", 2);
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        a.call("a g 2");
        b.call("a g 2");
        b.call("c g 1");

        a.call("r g 2 0");

        assertThat(b.message()).hasSize(1);
        assertThat(redis.hget(key("held"), "b.1|g")).startsWith("1 ").endsWith(" 0");
        assertThat(redis.exists(key("wait"))).isZero();
    }

    @Test
    void an_instance_has_at_most_as_many_tickets_as_the_limit() throws Exception {
        limit("g", 2);
        Instance a = instance("a.1");

        List<String> description = entry(a.call("a g 1000000"), "i");

        assertThat(description.subList(1, 4)).containsExactly("g", "2", "2");
        assertThat(redis.zcard(key("wait"))).isEqualTo(2);
    }

    @Test
    void a_sync_tells_what_the_server_knows() throws Exception {
        limit("g", 1);
        Instance a = instance("a.1");
        a.call("a g 3", "a h 2");

        List<List<String>> results = a.call("s");

        assertThat(results.stream().filter(each -> each.get(0).equals("s")).map(each -> each.subList(1, 4)))
                .containsExactly(List.of("g", "1", "1"), List.of("h", "2", "0"));
        assertThat(entry(results, "e")).isNotNull();
    }

    @Test
    void a_rate_lets_its_burst_start_and_then_one_per_interval() throws Exception {
        Instance a = instance("a.1");
        a.configure("r:g", Rates.write(Rate.of(1, Duration.ofHours(1)).burst(3)));

        assertThat(a.granted("a g 5")).isEqualTo(Map.of("g", 3));
        assertThat(Long.parseLong(a.header.get(4))).isBetween(3_599_000_000L, 3_600_000_000L);
        String[] bucket = redis.hget(key("rate"), "g").split(" ");
        redis.hset(key("rate"), "g", bucket[0] + " " + (Long.parseLong(bucket[1]) - 3_600_000_000L));
        redis.zadd(key("due"), 1, "d:g");

        assertThat(a.granted()).isEqualTo(Map.of("g", 1));
    }

    @Test
    void an_unused_permit_is_refunded_to_the_rate() throws Exception {
        Instance a = instance("a.1");
        a.configure("r:g", Rates.write(Rate.of(1, Duration.ofHours(1)).burst(2)));
        a.call("a g 2");

        assertThat(a.granted("r g 2 1", "a g 2")).isEqualTo(Map.of("g", 1));
    }

    @Test
    void a_changed_rate_does_not_forget_what_was_used() throws Exception {
        Instance a = instance("a.1");
        a.configure("r:g", Rates.write(Rate.of(10, Duration.ofHours(1)).burst(10)));
        a.call("a g 8");

        a.configure("r:g", Rates.write(Rate.of(20, Duration.ofHours(10)).burst(10)));

        assertThat(a.granted("a g 5")).isEqualTo(Map.of("g", 2));
    }

    @Test
    void the_next_start_that_a_rate_allows_is_not_hidden_by_buckets_that_are_full_earlier() throws Exception {
        Instance a = instance("a.1");
        for (int i = 0; i < 30; i++) {
            a.configure("r:early" + i, Rates.write(Rate.of(1, Duration.ofHours(1))));
            a.call("a early" + i + " 1");
        }
        a.configure("r:g", Rates.write(Rate.of(1, Duration.ofHours(2))));
        a.call("a g 2");

        // A call when one of those buckets is full finds what is due next, so the start in two hours is not missed.
        assertThat(Long.parseLong(a.header.get(4))).isBetween(3_500_000_000L, 7_200_000_000L);
    }

    @Test
    void a_full_bucket_is_removed() throws Exception {
        Instance a = instance("a.1");
        a.configure("r:g", Rates.write(Rate.perSecond(1_000_000)));
        a.call("a g 3");
        a.call("r g 3 0");
        do {
            a.call();
        } while (redis.exists(key("rate"), key("due")) > 0);

        assertThat(redis.keys("{" + namespace + "}:*")).containsExactlyInAnyOrder(key("conf"), key("meta"), key("exp"));
    }

    @Test
    void nothing_remains_of_groups_that_are_not_used() throws Exception {
        redis.hset(key("conf"), "?", "1");
        Instance a = instance("a.1");
        Instance b = instance("b.1");
        for (int i = 0; i < 300; i++) {
            a.call("a g" + i + " 2");
            b.call("a g" + i + " 1");
            a.call("r g" + i + " 1 0", "c g" + i + " 1");
            b.call("r g" + i + " 1 0");
        }

        assertThat(redis.keys("{" + namespace + "}:*")).containsExactlyInAnyOrder(key("conf"), key("meta"), key("exp"));
        assertThat(redis.hlen(key("meta"))).isLessThan(30);
        b.call("l");
        a.call("l");
        assertThat(redis.hkeys(key("meta"))).noneMatch(field -> field.contains(":"));
    }

    @Test
    void every_key_has_a_name_of_its_own() throws Exception {
        List<String> keys = List.of(
                "",
                "*",
                "?",
                "|",
                "a|b",
                "a\0b",
                "a\0",
                "\0",
                "a b",
                "a\nb",
                "{x}",
                "%",
                "%e",
                "%25",
                "ü",
                "\uD83D\uDE00",
                "\uD83D",
                "\uDE00",
                "x".repeat(1024),
                "x".repeat(1025),
                "y".repeat(1 << 20),
                "y".repeat((1 << 20) + 1),
                "t");
        Map<String, String> names = keys.stream().collect(Collectors.toMap(key -> key, GroupNames::of));
        assertThat(names.values()).doesNotHaveDuplicates().allMatch(name -> name.length() <= GroupNames.LONGEST);
        redis.hset(key("conf"), "?", "1");
        Instance a = instance("a.1");
        Instance b = instance("b.1");

        String[] acquire =
                names.values().stream().map(name -> "a " + name + " 2").toArray(String[]::new);
        Map<String, Integer> granted = a.granted(acquire);

        assertThat(granted)
                .hasSize(keys.size())
                .allSatisfy((name, n) -> assertThat(n).isEqualTo(1));
        assertThat(redis.hget(key("used"), "*")).isEqualTo("" + keys.size());
        assertThat(b.granted(acquire)).isEmpty();
        a.call(names.values().stream().map(name -> "r " + name + " 1 0").toArray(String[]::new));
        a.call("l");
        b.call("l");
        assertThat(redis.exists(key("used"), key("held"), key("wait"), key("own")))
                .isZero();
    }

    @Test
    void a_key_is_read_back_from_its_name() {
        for (String key : List.of("", "plain", "a|b", "ü \uD83D\uDE00", "%e", "\uD83D", "100%")) {
            assertThat(GroupNames.keyOf(GroupNames.of(key))).isEqualTo(key);
        }
    }

    @Test
    void a_key_of_another_type_is_an_error_that_changes_nothing() throws Exception {
        Instance a = instance("a.1");
        a.call("a g 1");
        Map<String, String> held = redis.hgetall(key("held"));
        redis.set(key("wait"), "mine");

        assertThatThrownBy(() -> a.call("r g 1 0"))
                .hasMessageContaining("{" + namespace + "}:wait is a string, not a zset");

        assertThat(redis.hgetall(key("held"))).isEqualTo(held);
        assertThat(redis.hget(key("used"), "g")).isEqualTo("1");
    }

    @Test
    void garbage_in_a_hash_is_an_error_with_its_field() throws Exception {
        Instance a = instance("a.1");
        a.call("a g 1");
        redis.hset(key("conf"), "l:g", "many");

        assertThatThrownBy(() -> a.call("a g 1")).hasMessageContaining("limit of g is not a number: many");
        redis.hset(key("conf"), "l:g", "3");
        redis.hset(key("used"), "g", "-1");
        Instance b = instance("b.1");
        assertThatThrownBy(() -> b.call("a g 1")).hasMessageContaining("used g is not a number: -1");
        redis.hset(key("used"), "g", "1");
        redis.hset(key("held"), "c.1|g", "nonsense");
        Instance c = instance("c.1");
        assertThatThrownBy(() -> c.call("a g 1")).hasMessageContaining("held c.1|g is not a record: nonsense");
    }
}
