package dev.raddle.cli.flows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.value.Passwords;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatabaseUrlTest {

    @ParameterizedTest
    @CsvSource({
        "postgresql://h/db, jdbc:postgresql://h/db",
        "postgres://h:5433/db?sslmode=require, jdbc:postgresql://h:5433/db?sslmode=require",
        "'postgresql://ann@h1,h2/db', 'jdbc:postgresql://h1,h2/db?user=ann'",
        "jdbc:postgresql://h/db?user=a%20nn&ssl=true, jdbc:postgresql://h/db?ssl=true&user=a+nn",
        "postgresql://a%40b+c@h/db, jdbc:postgresql://h/db?user=a%40b%2Bc",
    })
    void a_url_is_that_of_the_driver(String given, String jdbc) {
        DatabaseUrl url = DatabaseUrl.parse(given);

        assertThat(url.jdbc()).isEqualTo(jdbc);
        assertThat(url.password()).isNull();
        assertThat(url.isSecret()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql://ann:open%20sesame@h/db, open sesame",
        "postgresql://ann:a+b:c@h/db, a+b:c",
        "postgresql://ann@h/db?password=a+b, a+b",
        "jdbc:postgresql://h/db?user=ann&password=a+b, a b",
        "jdbc:postgresql://ann:x@y@h/db, x@y",
    })
    void a_password_is_taken_out_of_the_url(String given, String password) {
        DatabaseUrl url = DatabaseUrl.parse(given);

        assertThat(url).hasToString("jdbc:postgresql://h/db?user=ann");
        assertThat(url.password()).isEqualTo(password);
        assertThat(url.isSecret()).isTrue();
    }

    @Test
    void a_password_of_a_key_is_left_to_the_driver() {
        DatabaseUrl url = DatabaseUrl.parse("postgresql://h/db?sslPassword=x");

        assertThat(url.jdbc()).isEqualTo("jdbc:postgresql://h/db?sslPassword=x");
        assertThat(url.isSecret()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "h/db", "jdbc:postgresql:db", "mysql://h/db", "postgresql://", "postgresql:///db"})
    void another_url_is_refused_with_an_example(String given) {
        assertThatThrownBy(() -> DatabaseUrl.parse(given))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be like postgresql://host:5432/database?user=name")
                .satisfies(refused ->
                        assertThat(Passwords.hidden(refused.getMessage())).isEqualTo(refused.getMessage()));
    }

    @Test
    void an_invalid_escape_is_not_repeated() {
        assertThatThrownBy(() -> DatabaseUrl.parse("postgresql://u:secret%zz@h/db"))
                .hasMessageNotContaining("zz")
                .hasNoCause();
    }
}
