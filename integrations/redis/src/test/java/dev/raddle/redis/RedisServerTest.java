package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.processes.Await;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The servers on which the fleet is tested do what the tests believe of them. */
class RedisServerTest {

    static List<ServerKind> kinds() {
        return ServerKind.all();
    }

    @Test
    void there_is_at_least_one_server() {
        assertThat(kinds()).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a_killed_server_comes_back_with_its_data_or_without(ServerKind kind) {
        try (RedisServer server = RedisServer.start(kind, RedisServer.Options.DURABLE)) {
            server.command("SET", "key", "value");
            server.kill();
            server.restart();
            assertThat(server.command("GET", "key")).isEqualTo("value");
            server.kill();
            server.restartEmpty();
            assertThat(server.command("GET", "key")).isNull();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a_replica_takes_over_with_the_data_of_its_master(ServerKind kind) {
        try (RedisServer master = RedisServer.start(kind, RedisServer.Options.DURABLE);
                RedisServer replica = RedisServer.start(kind, RedisServer.Options.replicaOf(master))) {
            master.command("SET", "key", "value");
            replica.awaitSynchronized();
            Await.until("the key is there", () -> "value".equals(replica.command("GET", "key")));
            master.kill();
            replica.promote();
            assertThat(replica.command("SET", "key", "other")).isEqualTo("OK");
            replica.kill();
            replica.restart();
            assertThat(replica.command("GET", "key")).isEqualTo("other");
            assertThat(replica.command("SET", "key", "third")).isEqualTo("OK");
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a_single_node_serves_all_slots_of_a_cluster(ServerKind kind) {
        try (RedisServer server = RedisServer.start(kind, RedisServer.Options.CLUSTER)) {
            assertThat(server.command("SET", "{a}:key", "value")).isEqualTo("OK");
            assertThat(server.command("SET", "{b}:key", "value")).isEqualTo("OK");
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a_server_with_a_password_refuses_who_does_not_know_it(ServerKind kind) {
        try (RedisServer server = RedisServer.start(kind, RedisServer.Options.protectedBy("secret"))) {
            assertThat(server.command("PING")).isEqualTo("PONG");
            assertThatThrownBy(() -> Resp.once(server.port(), "PING")).hasMessageContaining("NOAUTH");
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a_stopped_server_answers_when_it_continues(ServerKind kind) throws IOException {
        try (RedisServer server = RedisServer.start(kind, RedisServer.Options.PLAIN);
                Resp resp = server.connect()) {
            server.pause();
            Thread later = Thread.ofVirtual().start(server::proceed);
            assertThat(resp.command("PING")).isEqualTo("PONG");
            assertThat(later).isNotNull();
        }
    }
}
