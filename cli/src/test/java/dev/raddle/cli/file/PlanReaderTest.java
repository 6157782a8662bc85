package dev.raddle.cli.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.template.Command;
import dev.raddle.cli.file.value.Backoff;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.task.Rate;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlanReaderTest {
    @Test
    void every_key_reaches_the_plan() throws InvalidFileException {
        Plan plan = RunFiles.plan("""
                name: nightly-checks
                defaults: { limit: 3, queue: 50, weight: 2, rate: 5/s, timeout: 1m, retry: 2, env: { A: 1 }, dir: work }
                groups: { db: { limit: 1 }, web: { limit: 4, queue: 100, weight: 5, rate: 300/m, burst: 7 } }
                jobs: 8
                timeout: 30m
                total: { queue: 1000, rate: 50/s, burst: 1 }
                tasks:
                  - { id: fetch-a, group: web, run: "curl -fsS http://127.0.0.1/a", timeout: 5s, \
                retry: { attempts: 3, backoff: 1s..2s } }
                  - { id: vacuum, group: db, run: [psql, -c, "vacuum"], env: { PGHOST: localhost, A: 2 }, dir: sub, \
                priority: 7, cost: 1 }
                """);

        assertThat(plan.name()).isEqualTo("nightly-checks");
        assertThat(plan.limits().total()).isEqualTo(8);
        assertThat(plan.timeout()).isEqualTo(Duration.ofMinutes(30));
        assertThat(plan.limits().totalQueue()).isEqualTo(1000);
        assertThat(plan.limits().limit("web")).isEqualTo(4);
        assertThat(plan.limits().queue("web")).isEqualTo(100);
        assertThat(plan.limits().weight("web")).isEqualTo(5);
        assertThat(plan.limits().rate("web"))
                .isEqualTo(Rate.of(300, Duration.ofMinutes(1)).burst(7));
        assertThat(plan.limits().rate("db")).isEqualTo(Rate.perSecond(5));
        assertThat(plan.limits().totalRate()).isEqualTo(Rate.perSecond(50).burst(1));
        assertThat(plan.limits().limit("db")).isEqualTo(1);
        assertThat(plan.limits().queue("db")).isEqualTo(50);
        assertThat(plan.limits().limit("other")).isEqualTo(3);
        assertThat(plan.tasks())
                .containsExactly(
                        new PlannedTask(
                                "fetch-a",
                                "web",
                                new Command(
                                        List.of("sh", "-c", "curl -fsS http://127.0.0.1/a"),
                                        Map.of(),
                                        "curl -fsS http://127.0.0.1/a"),
                                Map.of("A", "1"),
                                RunFiles.DIRECTORY.resolve("work"),
                                Duration.ofSeconds(5),
                                new Retry(3, new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(2))),
                                0,
                                1),
                        new PlannedTask(
                                "vacuum",
                                "db",
                                new Command(List.of("psql", "-c", "vacuum"), Map.of(), "psql -c vacuum"),
                                Map.of("PGHOST", "localhost", "A", "2"),
                                RunFiles.DIRECTORY.resolve("sub"),
                                Duration.ofMinutes(1),
                                new Retry(2, Backoff.DEFAULT),
                                7,
                                1));
    }

    @Test
    void missing_keys_have_default_values() throws InvalidFileException {
        Plan plan = RunFiles.plan("tasks: [{ id: a, run: 'true' }]");
        PlannedTask task = plan.tasks().getFirst();

        assertThat(plan.name()).isEqualTo("checks");
        assertThat(plan.limits().limit("default"))
                .isEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(plan.limits().queue("default")).isEqualTo(Limits.UNLIMITED);
        assertThat(plan.limits().weight("default")).isEqualTo(1);
        assertThat(plan.limits().total()).isEqualTo(Math.max(256, plan.limits().limit("default")));
        assertThat(task.group()).isEqualTo("default");
        assertThat(task.dir()).isEqualTo(RunFiles.DIRECTORY);
        assertThat(plan.timeout()).isNull();
        assertThat(task.timeout()).isNull();
        assertThat(task.retry()).isEqualTo(Retry.NONE);
        assertThat(task.env()).isEmpty();
    }

    @Test
    void the_total_may_be_automatic_or_unlimited_and_is_never_below_an_explicit_limit() throws InvalidFileException {
        String task = "\ntasks: [{ id: a, run: 'true' }]";

        assertThat(RunFiles.plan("jobs: auto" + task).limits().total())
                .isEqualTo(4 * Runtime.getRuntime().availableProcessors());
        assertThat(RunFiles.plan("jobs: unlimited" + task).limits().total()).isEqualTo(Limits.UNLIMITED);
        assertThat(RunFiles.plan("groups: { a: { limit: 900 } }" + task)
                        .limits()
                        .total())
                .isEqualTo(900);
        assertThat(RunFiles.plan("defaults: { limit: 300 }" + task).limits().total())
                .isEqualTo(300);
    }

    @Test
    void a_script_without_for_each_belongs_to_the_shell_to_the_last_character() throws InvalidFileException {
        Plan plan = RunFiles.plan("""
                tasks:
                  - { id: a, run: "echo ${HOME} $${x} `date` {}" }
                  - { id: b, run: [echo, "${HOME}", "{}", 1.10, true] }
                """);

        assertThat(plan.tasks().get(0).command().words()).containsExactly("sh", "-c", "echo ${HOME} $${x} `date` {}");
        assertThat(plan.tasks().get(1).command().words()).containsExactly("echo", "${HOME}", "{}", "1.10", "true");
    }

    @Test
    void each_line_of_a_text_file_makes_a_task() throws InvalidFileException {
        Plan plan = RunFiles.plan("""
                tasks:
                  - { forEach: urls.txt, id: "page-${line}", group: "${host}", run: "curl -fsS ${line}", \
                env: { N: "${n}" }, dir: "d/${host}" }
                """, Map.of("urls.txt", "http://a.org/1\nhttp://b.org/2?x=1&y=2\n"));

        assertThat(plan.tasks())
                .extracting(PlannedTask::id)
                .containsExactly("page-http://a.org/1", "page-http://b.org/2?x=1&y=2");
        assertThat(plan.groups()).containsExactly("a.org", "b.org");
        assertThat(plan.tasks().get(1).env()).containsOnly(Map.entry("N", "2"));
        assertThat(plan.tasks().get(1).dir()).isEqualTo(Path.of("/somewhere/d/b.org"));
        assertThat(plan.tasks().get(1).command().shown()).isEqualTo("curl -fsS 'http://b.org/2?x=1&y=2'");
        assertThat(plan.inputs()).containsOnlyKeys("urls.txt");
    }

    @Test
    void records_and_items_make_tasks_too() throws InvalidFileException {
        Plan plan = RunFiles.plan(
                """
                tasks:
                  - { forEach: a.csv, id: "csv-${full name}", group: "${url.host}", run: [echo, "${url}"] }
                  - { forEach: a.json, id: "json-${id}", run: "echo ${x}" }
                  - { forEach: [one, 2, { line: three }], id: "item-${line}", run: "echo ${line}" }
                """, Map.of("a.csv", "full name,url\nAnn,http://a/\n", "a.json", "[{\"id\": 1, \"x\": \"y\"}]"));

        assertThat(plan.tasks())
                .extracting(PlannedTask::id)
                .containsExactly("csv-Ann", "json-1", "item-one", "item-2", "item-three");
        assertThat(plan.tasks().getFirst().group()).isEqualTo("a");
        assertThat(plan.tasks().getFirst().command().words()).containsExactly("echo", "http://a/");
    }

    @Test
    void a_file_without_lines_makes_no_tasks() throws InvalidFileException {
        assertThat(RunFiles.plan("tasks: [{ forEach: a.txt, id: 'x${n}', run: 'echo ${line}' }]", Map.of("a.txt", "\n"))
                        .tasks())
                .isEmpty();
    }

    @Test
    void the_file_may_be_json() throws InvalidFileException {
        assertThat(RunFiles.plan("{\"tasks\": [\n\t{\"id\": \"a\", \"run\": [\"true\"]}\n]}")
                        .tasks())
                .hasSize(1);
    }

    @Test
    void anchors_aliases_and_merges_work_as_in_other_yaml_files() throws InvalidFileException {
        Plan plan = RunFiles.plan("""
                tasks:
                  - &base { id: a, run: 'true', timeout: 5s }
                  - { <<: *base, id: b }
                """);

        assertThat(plan.tasks()).extracting(PlannedTask::id).containsExactly("a", "b");
        assertThat(plan.tasks().get(1).timeout()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void a_file_may_contain_any_number_of_aliases() throws InvalidFileException {
        StringBuilder text = new StringBuilder("tasks:\n  - { id: t0, run: &run [echo, x], env: &env { A: 1 } }\n");
        for (int i = 1; i <= 1_000; i++) {
            text.append("  - { id: t" + i + ", run: *run, env: *env }\n");
        }

        Plan plan = RunFiles.plan(text.toString());

        assertThat(plan.tasks()).hasSize(1_001).allSatisfy(task -> {
            assertThat(task.command().words()).containsExactly("echo", "x");
            assertThat(task.env()).isEqualTo(Map.of("A", "1"));
        });
    }

    @Test
    void a_merged_map_may_merge_others_and_the_nearest_value_counts() throws InvalidFileException {
        Plan plan = RunFiles.plan("""
                tasks:
                  - &a { id: a, run: 'true', timeout: 1s, priority: 1, env: { A: a } }
                  - &b { <<: *a, id: b, timeout: 2s }
                  - { <<: [*b, { timeout: 3s, cost: 1, dir: d }], id: c, priority: 4 }
                """);

        PlannedTask task = plan.tasks().get(2);
        assertThat(task.timeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(task.priority()).isEqualTo(4);
        assertThat(task.env()).isEqualTo(Map.of("A", "a"));
        assertThat(task.dir()).isEqualTo(RunFiles.DIRECTORY.resolve("d"));
    }

    @Test
    void merges_that_double_at_each_step_are_read_in_linear_time() throws InvalidFileException {
        StringBuilder text = new StringBuilder("tasks:\n  - &t0 { id: t0, run: 'true', priority: 7 }\n");
        for (int i = 1; i <= 200; i++) {
            text.append("  - &t" + i + " { <<: [*t" + (i - 1) + ", *t" + (i - 1) + "], id: t" + i + " }\n");
        }

        assertThat(RunFiles.plan(text.toString()).tasks()).hasSize(201).allMatch(task -> task.priority() == 7);
    }

    @Test
    void a_chain_of_merges_is_read_in_linear_time() throws InvalidFileException {
        StringBuilder text = new StringBuilder("tasks:\n  - &t0 { id: t0, run: 'true', priority: 7 }\n");
        for (int i = 1; i <= 20_000; i++) {
            text.append("  - &t" + i + " { <<: *t" + (i - 1) + ", id: t" + i + " }\n");
        }

        assertThat(RunFiles.plan(text.toString()).tasks()).hasSize(20_001).allMatch(task -> task.priority() == 7);
    }
}
