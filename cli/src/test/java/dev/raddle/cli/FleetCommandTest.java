package dev.raddle.cli;

import static dev.raddle.cli.Ended.raddle;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.RedisFleet;
import dev.raddle.task.TaskContext;
import io.lettuce.core.RedisURI;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the command in this JVM, against real servers. */
@Timeout(120)
class FleetCommandTest {
    private static final String PASSWORD = "open-sesame";
    private static LocalRedis redis;
    private static LocalRedis locked;

    @BeforeAll
    static void start_servers() throws Exception {
        redis = LocalRedis.start(null);
        locked = LocalRedis.start(PASSWORD);
    }

    @AfterAll
    static void stop_servers() throws Exception {
        redis.close();
        locked.close();
    }

    private static Ended fleet(String namespace, String... arguments) {
        List<String> words = new ArrayList<>(List.of("fleet"));
        words.addAll(List.of(arguments));
        words.addAll(List.of("--redis", redis.uri(), "--namespace", namespace));
        return raddle(words.toArray(String[]::new));
    }

    private static String succeeded(Ended ended) {
        return ended.succeeded();
    }

    @Test
    void limits_that_were_set_are_shown_until_they_are_removed() {
        assertThat(succeeded(fleet("limits", "set", "vip", "--limit", "4", "--rate", "100/s", "--burst", "10")))
                .isEqualTo("limit of \"vip\": 4\nrate of \"vip\": 100 per 1 s with a burst of 10\n");
        assertThat(succeeded(fleet("limits", "set", "--default-limit", "2", "--cap", "16")))
                .isEqualTo("default limit: 2\ncap: 16\n");

        assertThat(succeeded(fleet("limits")))
                .startsWith("fleet limits: 0 permits held, cap 16, default limit 2\n")
                .containsPattern("\nvip +4 +100 per 1 s with a burst of 10 +0 +0\n");

        assertThat(succeeded(fleet("limits", "set", "vip", "--reset")))
                .isEqualTo("limit and rate of \"vip\": removed\n");
        assertThat(succeeded(fleet("limits", "set", "--default-limit", "0", "--cap", "0")))
                .isEqualTo("default limit: none\ncap: none\n");

        assertThat(succeeded(fleet("limits")))
                .startsWith("fleet limits: 0 permits held, cap none, default limit none\n")
                .doesNotContain("vip");
    }

    @Test
    void the_command_itself_is_not_shown_as_an_instance() {
        assertThat(succeeded(fleet("alone"))).contains("\nno instances\n");
        assertThat(succeeded(fleet("alone", "--json"))).contains("\"instances\":[]");
    }

    @Test
    void a_server_that_needs_a_password_gets_it_from_the_uri() {
        Ended ended = raddle("fleet", "--redis", "redis://:" + PASSWORD + "@127.0.0.1:" + locked.port());

        assertThat(succeeded(ended)).startsWith("fleet raddle: ");
    }

    @Test
    void a_wrong_password_is_refused_without_being_repeated() {
        Ended ended = raddle("fleet", "--redis", "redis://:wrong-word@127.0.0.1:" + locked.port());

        assertThat(ended.exitCode()).isEqualTo(70);
        assertThat(ended.err())
                .startsWith("raddle: ")
                .doesNotContain("wrong-word")
                .hasLineCount(1);
    }

    @Test
    void a_server_that_is_away_is_reported_in_one_line_without_the_password() throws Exception {
        Ended ended = raddle("fleet", "--redis", "redis://:" + PASSWORD + "@127.0.0.1:" + LocalRedis.freePort());

        assertThat(ended.exitCode()).isEqualTo(70);
        assertThat(ended.err()).startsWith("raddle: ").doesNotContain(PASSWORD).hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fleet --redis redis:/:open-sesame@host",
                "fleet --redis htp://:open-sesame@host",
                "fleet --reddis=redis://:open-sesame@host",
                "fleet --reddis redis://:open-sesame@host",
                "fleet redis://:open-sesame@host",
                "fleet set a redis://:open-sesame@host --limit 4",
                "fleet set a --limit redis://:open-sesame@host",
            })
    void a_password_in_a_misused_command_is_not_repeated(String words) {
        Ended ended = raddle(words.split(" "));

        assertThat(ended.exitCode()).isEqualTo(2);
        assertThat(ended.out() + ended.err()).isNotEmpty().doesNotContain(PASSWORD);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fleet                                           | Name the server by --redis or by the environment",
                "fleet --redis nonsense                          | the URI of the server must begin with redis://, ",
                "fleet --redis redis://h --namespace {x}         | namespace must be",
                "fleet set --redis redis://h                     | Name what to set: --limit, --rate",
                "fleet set --redis redis://h --limit 1           | --limit, --rate, --burst and --reset need the KEY",
                "fleet set --redis redis://h a --cap 1           | KEY needs --limit, --rate or --reset",
                "fleet set --redis redis://h a --reset --limit 1 | --reset and --limit, --rate or --burst exclude",
                "fleet set --redis redis://h a --burst 1         | --burst needs --rate",
                "fleet set --redis redis://h a --limit 0         | --limit must be at least 1, was 0",
                "fleet set --redis redis://h --cap -1            | --cap must be at least 0, was -1",
                "fleet set --redis redis://h a --rate x          | must be a number of at least 1, a slash and a time",
            })
    void invalid_arguments_are_explained(String words, String message) {
        Ended ended = raddle(words.split(" +"));

        assertThat(ended.err()).contains(message).contains("See: raddle fleet");
        assertThat(ended.exitCode()).isEqualTo(2);
    }

    /** Returns the rule of the guide for a user who may use nothing but the fleet, for a server before version 7. */
    private static String ruleOfTheGuide() throws Exception {
        String guide = Files.readString(Path.of("..", "docs", "guide", "fleet.md"));
        int begin = guide.indexOf("ACL SETUSER");
        String rule = guide.substring(begin, guide.indexOf("```", begin)).replaceAll("\\s+", " ");
        return rule.replaceAll(" \\+(ssubscribe|sunsubscribe|spublish)", "").strip();
    }

    private static String answerTo(String command, int port) throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
            BufferedReader answer =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            return answer.readLine();
        }
    }

    @Test
    void the_rule_of_the_guide_suffices_for_the_command_and_for_tasks() throws Exception {
        assertThat(answerTo(ruleOfTheGuide(), redis.port())).isEqualTo("+OK");
        String uri = "redis://shop-fleet:password@127.0.0.1:" + redis.port();

        assertThat(succeeded(raddle("fleet", "set", "vip", "--limit", "1", "--redis", uri, "--namespace", "shop")))
                .isEqualTo("limit of \"vip\": 1\n");
        assertThat(raddle("fleet", "--redis", uri, "--namespace", "other").exitCode())
                .isEqualTo(70);
        FleetOptions options = FleetOptions.builder().namespace("shop").build();
        try (RedisFleet fleet = RedisFleet.connect(RedisURI.create(uri), options);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                        GroupPolicy.builder().permits(fleet).build())) {
            TaskHandle<Long> first = executor.submit(
                    "vip", "first", () -> TaskContext.current().fence().orElseThrow());
            TaskHandle<Long> second = executor.submit(
                    "vip", "second", () -> TaskContext.current().fence().orElseThrow());

            assertThat(second.join().value())
                    .isGreaterThanOrEqualTo(first.join().value());
        }
    }
}
