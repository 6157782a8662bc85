package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FailuresTest {

    private final Failures failures = new Failures();

    private Failures.Rows all() {
        return failures.all(View.of(Map.of("view", "failures")));
    }

    @Test
    void at_most_two_hundred_kinds_are_kept_those_that_were_seen_last() {
        for (int i = 0; i < 1_000; i++) {
            failures.add("e", "g", new IOException("kind " + letters(i)), i);
            failures.add("e", "g", new IOException("always"), i);
        }

        assertThat(all().order()).hasSize(200);
        assertThat(failures.summary(0).kinds()).isEqualTo(200);
        assertThat(all().rows().values())
                .anySatisfy(row -> assertThat(row.message()).isEqualTo("always"))
                .anySatisfy(row -> assertThat(row.message()).isEqualTo("kind " + letters(999)))
                .noneSatisfy(row -> assertThat(row.message()).isEqualTo("kind " + letters(5)));
    }

    private static String letters(int number) {
        return Integer.toString(number)
                .chars()
                .collect(StringBuilder::new, (text, c) -> text.append((char) (c - '0' + 'a')), StringBuilder::append)
                .toString();
    }

    @Test
    void an_exception_whose_methods_throw_is_counted() {
        RuntimeException hostile = new RuntimeException() {
            @Override
            public String getMessage() {
                throw new UnsupportedOperationException("message");
            }

            @Override
            public synchronized Throwable getCause() {
                throw new UnsupportedOperationException("cause");
            }
        };
        failures.add("e", "g", hostile, 1);

        assertThat(all().rows().values()).singleElement().satisfies(row -> {
            assertThat(row.count()).isEqualTo(1);
            assertThat(row.type()).contains("FailuresTest");
        });
    }

    @Test
    void a_cycle_of_causes_ends() {
        Exception first = new Exception("first");
        Exception second = new Exception("second", first);
        first.initCause(second);
        failures.add("e", "g", first, 1);

        assertThat(all().rows().get("e1").stack()).contains("Caused by: java.lang.Exception: second");
    }

    @Test
    void a_long_message_is_cut_between_characters() {
        failures.add("e", "g", new Exception("x".repeat(999) + "\uD83D\uDE00".repeat(10)), 1);

        assertThat(all().rows().get("e1").message()).isEqualTo("x".repeat(999) + "…");
    }
}
