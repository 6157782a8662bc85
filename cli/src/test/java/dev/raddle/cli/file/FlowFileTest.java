package dev.raddle.cli.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.Condition;
import dev.raddle.cli.file.template.DeferredCommand;
import dev.raddle.cli.file.value.Location;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The dependencies in a run file. */
class FlowFileTest {
    private static final String FILE = """
            params: { day: monday }
            results: [report]
            tasks:
              - { id: a, run: "echo a" }
              - { id: b, run: [echo, "b ${param.day}"] }
              - { id: c, run: "true", needs: a, fallback: { value: "${param.day}: none" }, undo: "echo ${c.stdout}" }
              - id: report
                run: "echo ${a.stdout} ${b.stdout} $HOME ${HOME:-x} $${a.stdout}"
                env: { A: "${a.exit}" }
                needs: [a, { any: [b, c] }]
                when: ${a.stdout} contains "x" and not ${b.state} == failed
                fallback: { value: none }
                essential: true
            """;

    private static PlannedTask task(Plan plan, String id) {
        return Objects.requireNonNull(plan.byId().get(id));
    }

    @Test
    void needs_are_ids_and_clauses() throws Exception {
        Plan plan = RunFiles.plan("""
                tasks:
                  - { forEach: [1, 2, 3], id: "s${line}", run: "true" }
                  - { forEach: [1, 2], id: "t${line}", run: "true", needs: "s${line}" }
                  - { id: u, run: "true", needs: [s1, { any: [s2, s3] }, { atLeast: 1, of: [t1, t2] }] }
                  - { id: v, run: "true", needs: [{ optional: u }, { after: [s1, s2] }] }
                """);

        assertThat(task(plan, "t2").flow().upstreams()).containsExactly("s2");
        assertThat(task(plan, "u").flow().needs())
                .extracting(need -> need.label() + " " + need.ids())
                .containsExactly("must [s1]", "any [s2, s3]", "at least 1 [t1, t2]");
        assertThat(task(plan, "v").flow().needs())
                .extracting(need -> need.label() + " " + need.ids())
                .containsExactly("optional [u]", "after [s1, s2]");
        assertThat(plan.edges()).isEqualTo(10);
    }

    @Test
    void one_clause_needs_no_list() throws Exception {
        Plan plan = RunFiles.plan("""
                tasks:
                  - { forEach: [1, 2, 3], id: "a${n}", run: "true" }
                  - { id: b, run: "true", needs: { atLeast: 2, of: [a1, a2, a3] } }
                  - { id: c, run: "true", needs: { optional: b } }
                  - { id: d, run: "true", needs: { any: [a1, a2] } }
                  - { id: e, run: "true", needs: { after: b } }
                  - { id: f, run: "true", needs: { atLeast: 1, of: a1 } }
                """);

        assertThat(List.of("b", "c", "d", "e", "f"))
                .extracting(id -> task(plan, id).flow().needs().stream()
                        .map(need -> need.label() + " " + need.ids())
                        .toList())
                .containsExactly(
                        List.of("at least 2 [a1, a2, a3]"),
                        List.of("optional [b]"),
                        List.of("any [a1, a2]"),
                        List.of("after [b]"),
                        List.of("at least 1 [a1]"));
    }

    @Test
    void output_of_other_tasks_reaches_a_script_in_variables_and_is_never_code() throws Exception {
        Plan plan = RunFiles.plan(FILE);
        DeferredCommand deferred =
                Objects.requireNonNull(task(plan, "report").flow().deferred());

        DeferredCommand.Filled filled =
                deferred.fill(Map.of("a.stdout", "x; rm -rf /", "b.stdout", "it's", "a.exit", "0"));

        assertThat(filled.command().words())
                .containsExactly(
                        "sh",
                        "-c",
                        "echo ${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"} ${RADDLE_VALUE_2+\"$RADDLE_VALUE_2\"}"
                                + " $HOME ${HOME:-x} ${a.stdout}");
        assertThat(filled.command().values())
                .isEqualTo(Map.of("RADDLE_VALUE_1", "x; rm -rf /", "RADDLE_VALUE_2", "it's"));
        assertThat(filled.env()).isEqualTo(Map.of("A", "0"));
    }

    @Test
    void params_are_replaced_before_anything_runs() throws Exception {
        Plan plan = new PlanReader("checks.yaml", RunFiles.DIRECTORY, name -> new byte[0])
                .params(Map.of("day", "friday"))
                .read(FILE);

        assertThat(task(plan, "b").command().words()).containsExactly("echo", "b friday");
        assertThat(task(plan, "c").flow().fallback()).isEqualTo(new TaskFlow.Fallback.Value("friday: none"));
        assertThat(plan.results()).containsExactly("report");
    }

    @Test
    void a_reference_is_shown_in_its_textual_form_until_its_value_is_known() throws Exception {
        assertThat(task(RunFiles.plan(FILE), "report").command().shown())
                .isEqualTo("echo '${a.stdout}' '${b.stdout}' $HOME ${HOME:-x} ${a.stdout}");
    }

    @Test
    void the_only_upstream_may_be_called_task() throws Exception {
        Plan plan = RunFiles.plan("""
                tasks:
                  - { forEach: [1, 2], id: "s${line}", run: "true" }
                  - { forEach: [1, 2], id: "t${line}", run: "echo ${task.stdout} ${line}", needs: "s${line}" }
                """);

        TaskFlow flow = task(plan, "t2").flow();
        assertThat(flow.onlyUpstream()).containsExactly("s2");
        assertThat(Objects.requireNonNull(flow.deferred())
                        .fill(Map.of("task.stdout", "x"))
                        .command()
                        .values())
                .isEqualTo(Map.of("RADDLE_VALUE_1", "x", "RADDLE_VALUE_2", "2"));
    }

    @Test
    void a_task_without_relations_to_others_has_no_flow() throws Exception {
        Plan plan = RunFiles.plan("tasks: [{ id: a, run: 'echo ${HOME}' }, { id: b, run: [echo, '$${x}'] }]");

        assertThat(plan.isFlow()).isFalse();
        assertThat(task(plan, "a").command().words()).containsExactly("sh", "-c", "echo ${HOME}");
        assertThat(task(plan, "b").command().words()).containsExactly("echo", "$${x}");
        assertThat(RunFiles.plan(FILE).isFlow()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "${a.stdout} == x | true",
                "${a.stdout} == 'x' | true",
                "${a.stdout} != \"x\" | false",
                "${b.stdout} contains 'two words' | true",
                "not ${a.stdout} == x | false",
                "not not ${a.stdout} == x | true",
                "${a.stdout} == y or ${a.stdout} == x and ${a.exit} == 0 | true",
                "(${a.stdout} == x or ${a.stdout} == y) and ${a.exit} == 1 | false",
                "${a.exit}==0 | true",
                "'' == ${c.stdout} | true",
                "${a.stdout} == '${a.stdout}' | false"
            })
    void a_condition_compares_texts(String text, boolean holds) throws Exception {
        Row row = new Row(new Location("f", 1, 1), 1, Map.of())
                .with(Map.of("a.stdout", "x", "a.exit", "0", "b.stdout", "here two words", "c.stdout", ""));

        assertThat(Condition.parse(text).holds(row)).isEqualTo(holds);
    }

    @Test
    void the_locations_of_needs_are_kept() throws Exception {
        Need need = task(RunFiles.plan(FILE), "report").flow().needs().getLast();

        assertThat(need.places())
                .extracting(Location::toString)
                .isEqualTo(List.of("checks.yaml:10:24", "checks.yaml:10:27"));
    }
}
