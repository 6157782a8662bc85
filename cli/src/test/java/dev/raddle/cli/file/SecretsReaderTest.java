package dev.raddle.cli.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecretsReaderTest {
    private static PlanReader reader(Map<String, String> params, Map<String, String> environment) {
        return new PlanReader(
                        "checks.yaml", RunFiles.DIRECTORY, name -> "a\nhunter22\n".getBytes(StandardCharsets.UTF_8))
                .params(params)
                .environment(environment);
    }

    private static List<String> problems(Map<String, String> environment, String text) {
        return RunFiles.problems(reader(Map.of(), environment), text);
    }

    @Test
    void secrets_are_the_values_of_params_and_variables() throws Exception {
        Plan plan = reader(Map.of("key", "it's a key"), Map.of("TOKEN", "hunter22", "key", "other"))
                .read("""
                params: { key: }
                secrets: [TOKEN, key]
                tasks:
                  - { id: a, run: "curl -u ${param.key}:x" }
                  - { id: b, run: [curl, "-u=${param.key}"] }
                """);

        assertThat(plan.secrets().mask("hunter22 it's a key other")).isEqualTo("*** *** other");
        assertThat(plan.tasks().getFirst().command().shown()).isEqualTo("curl -u '***':x");
        assertThat(plan.tasks().getFirst().command().values()).containsValue("it's a key");
        assertThat(plan.tasks().getLast().command().shown()).isEqualTo("curl '-u=***'");
        assertThat(plan.tasks().getLast().command().words()).containsExactly("curl", "-u=it's a key");
    }

    @Test
    void a_secret_needs_a_value_unless_the_plan_is_only_shown() throws Exception {
        String text = "secrets: [TOKEN]\ntasks: [{ id: a, run: 'true' }]";

        assertThat(problems(Map.of(), text))
                .containsExactly("checks.yaml:1:11: secret \"TOKEN\" must be a param of the file, or a variable of the"
                        + " environment that is set");
        assertThat(reader(Map.of(), Map.of())
                        .allowMissingValues()
                        .read(text)
                        .secrets()
                        .isEmpty())
                .isTrue();
    }

    @Test
    void a_param_without_a_value_is_one_problem() {
        assertThat(problems(Map.of(), "params: { key: }\nsecrets: [key]\ntasks: [{ id: a, run: 'echo ${param.key}' }]"))
                .hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"abc, 3", "'', 0", "' ab ', 2"})
    void a_value_that_is_too_short_is_a_problem_that_does_not_show_it(String value, int length) {
        assertThat(problems(Map.of("TOKEN", value), "secrets: [TOKEN]\ntasks: [{ id: x, run: 'true' }]"))
                .containsExactly("checks.yaml:1:11: secret \"TOKEN\" must have a value of at least 4 characters, had "
                        + length + "; a shorter one would hide other text");
    }

    @Test
    void neither_the_file_nor_its_data_may_contain_a_secret() {
        assertThat(problems(Map.of("TOKEN", "hunter22"), """
                secrets: [TOKEN]
                tasks:
                  - { forEach: data.txt, id: "${line}", run: "echo hunter22" }
                """))
                .satisfiesExactly(
                        file -> assertThat(file)
                                .startsWith("checks.yaml:3:1: the file must not contain the value of a secret,"),
                        data -> assertThat(data)
                                .startsWith("data.txt:2:1: the file must not contain the value of a secret,"),
                        id -> assertThat(id)
                                .isEqualTo("checks.yaml:1:10: neither id nor group, dir and desc of a task may contain"
                                        + " a secret, as in task \"***\""));
    }

    @Test
    void a_secret_is_hidden_in_other_problems() {
        assertThat(problems(Map.of("TOKEN", "hunter22"), """
                secrets: [TOKEN, 7]
                tasks: [{ id: a, run: 'true', needs: hunter22 }]
                """))
                .noneMatch(problem -> problem.contains("hunter22"))
                .anyMatch(problem -> problem.contains("***"));
    }

    @ParameterizedTest
    @CsvSource({"id", "group", "dir", "desc"})
    void what_is_shown_everywhere_must_not_contain_a_secret(String key) {
        String id = key.equals("id") ? "" : "id: a, ";
        assertThat(RunFiles.problems(
                        reader(Map.of("key", "hunter22"), Map.of()),
                        "params: { key: }\nsecrets: [key]\ntasks: [{ " + id + key
                                + ": 'x-${param.key}', run: 'true' }]"))
                .hasSize(1)
                .first()
                .asString()
                .startsWith("checks.yaml:2:10: neither id nor group, dir and desc of a task may contain a secret");
    }
}
