package dev.raddle.scope;

import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A subtask shuts the scope down while the owner forks. No thread started meanwhile misses its interrupt. */
class ShutdownStressTest {

    static Stream<Arguments> cases() {
        return Stream.of(Kind.values())
                .flatMap(kind -> IntStream.range(0, 256).mapToObj(i -> Arguments.of(kind, i & 15, i >> 4)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    @Timeout(60)
    void every_waiting_thread_is_woken(Kind kind, int before, int after) throws InterruptedException {
        try (StructuredTaskScope<Object> scope = kind.open()) {
            for (int i = 0; i < before; i++) {
                scope.fork(Tasks::forever);
            }
            scope.fork(() -> {
                scope.shutdown();
                return null;
            });
            for (int i = 0; i < after; i++) {
                scope.fork(Tasks::forever);
            }
            scope.join();
        }
    }
}
