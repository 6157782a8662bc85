package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputNamesTest {
    private static final List<String> IDS = List.of(
            "fetch-a",
            "a/b",
            "a_b",
            "../../etc/passwd",
            "..",
            ".",
            "-rf",
            "",
            "x\0y",
            "A",
            "a",
            "con",
            "größe",
            "日本",
            "page-http://a.org/?q=1",
            "page-http://a.org/?q=2",
            "a b",
            "a\nb",
            "x".repeat(5000),
            "x".repeat(5001));

    @Test
    void a_safe_id_is_its_own_name() {
        assertThat(new OutputNames().name("fetch-a_1.2")).isEqualTo("fetch-a_1.2");
    }

    @Test
    void every_id_gets_a_unique_safe_name(@TempDir Path directory) throws Exception {
        OutputNames names = new OutputNames();
        Set<String> taken = new HashSet<>();
        for (String id : IDS) {
            String name = names.name(id);

            assertThat(name).matches("[A-Za-z0-9_][A-Za-z0-9._-]*").hasSizeLessThan(120);
            assertThat(taken.add(name.toLowerCase(Locale.ROOT))).as(name).isTrue();
            Path file = Files.createFile(directory.resolve(name + ".log"));
            assertThat(file.toRealPath().getParent()).isEqualTo(directory.toRealPath());
        }
    }

    @Test
    void an_id_that_looks_like_the_name_of_another_gets_a_different_one() {
        OutputNames names = new OutputNames();
        String made = names.name("a/b");

        assertThat(names.name(made)).isNotEqualTo(made);
    }

    @Test
    void the_same_ids_get_the_same_names_again() {
        OutputNames one = new OutputNames();
        OutputNames two = new OutputNames();

        assertThat(IDS.stream().map(one::name))
                .containsExactlyElementsOf(IDS.stream().map(two::name).toList());
    }
}
