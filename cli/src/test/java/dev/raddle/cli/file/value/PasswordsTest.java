package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PasswordsTest {
    @Test
    void a_password_is_hidden_in_any_text_even_if_it_has_signs_that_should_have_been_encoded() {
        assertThat(Passwords.hidden("no redis://u:p@ss/w ord@host:1/0 there"))
                .isEqualTo("no redis://***@host:1/0 there");
        assertThat(Passwords.hidden("--x=rediss://:secret@h")).isEqualTo("--x=rediss://***@h");
        assertThat(Passwords.hidden("redis-sentinel://:secret@h1,h2/0#m")).isEqualTo("redis-sentinel://***@h1,h2/0#m");
        assertThat(Passwords.hidden("redis://host:6379")).isEqualTo("redis://host:6379");
        assertThat(Passwords.hidden("mail a@b")).isEqualTo("mail a@b");
    }

    @Test
    void a_password_of_a_database_is_hidden_before_its_host_and_among_the_parameters() {
        assertThat(Passwords.hidden("no postgres://u:p@ss/w ord@host/db?x=1 there"))
                .isEqualTo("no postgres://***@host/db?x=1 there");
        assertThat(Passwords.hidden("--x=jdbc:postgresql://u:secret@h/db")).isEqualTo("--x=jdbc:postgresql://***@h/db");
        assertThat(Passwords.hidden("jdbc:postgresql://h/db?user=u&password=se cr?et&x=1&sslPassword=b"))
                .isEqualTo("jdbc:postgresql://h/db?user=u&password=***&x=1&sslPassword=***");
        assertThat(Passwords.hidden("postgresql://h/db?user=u")).isEqualTo("postgresql://h/db?user=u");
    }
}
