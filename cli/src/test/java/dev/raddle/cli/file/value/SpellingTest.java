package dev.raddle.cli.file.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpellingTest {
    private static final List<String> KEYS = List.of("limit", "queue", "weight", "priority", "run", "id");

    @Test
    void a_missing_extra_or_swapped_letter_is_recognized() {
        assertThat(Spelling.nearest("limt", KEYS)).contains("limit");
        assertThat(Spelling.nearest("limits", KEYS)).contains("limit");
        assertThat(Spelling.nearest("wieght", KEYS)).contains("weight");
        assertThat(Spelling.nearest("Prioirty", KEYS)).contains("priority");
        assertThat(Spelling.nearest("rnu", KEYS)).contains("run");
    }

    @Test
    void a_word_unlike_any_other_has_no_suggestion() {
        assertThat(Spelling.nearest("colour", KEYS)).isEmpty();
        assertThat(Spelling.nearest("xy", KEYS)).isEmpty();
        assertThat(Spelling.hint("colour", KEYS)).isEmpty();
    }
}
