package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DryRunTest {
    private final TestConsole page = TestConsole.file();

    private static Plan plan() throws Exception {
        return new PlanReader("checks.yaml", Path.of("/somewhere"), name -> new byte[0]).read("""
                groups: { db: { limit: 1 }, \
                web: { limit: 4, queue: 100, weight: 2 } }
                jobs: 8
                tasks:
                  - { id: fetch, group: web, run: "curl $URL", timeout: 5s, retry: { attempts: 3, backoff: 200ms..5s } }
                  - { id: vacuum, group: db, run: [psql, -c, "vacuum full"], priority: 2 }
                  - { forEach: ["a;b"], id: "x-${line}", group: web, run: "echo ${line}", cost: 2 }
                """);
    }

    @Test
    void each_task_is_printed_under_its_group_with_its_rules() throws Exception {
        new DryRun(page.console(), false).print(plan(), Set.of(), 0);

        assertThat(page.text()).isEqualTo("""
                checks: 3 tasks in 2 groups, at most 8 at once
                web (limit 4, queue 100, weight 2): 2 tasks
                  fetch  curl $URL  (timeout 5 s, up to 3 attempts, 200 ms to 5 s apart)
                  x-a;b  echo 'a;b'  (cost 2)
                db (limit 1): 1 task
                  vacuum  psql -c 'vacuum full'  (priority 2)
                """);
    }

    @Test
    void the_rates_of_groups_and_the_total_one_are_printed() throws Exception {
        Plan rated = new PlanReader("checks.yaml", Path.of("/somewhere"), name -> new byte[0]).read("""
                groups: { web: { limit: 4, rate: 300/m, burst: 7 } }
                total: { rate: 10/s, burst: 2 }
                timeout: 30m
                tasks:
                  - { id: fetch, group: web, run: "curl $URL" }
                """);

        new DryRun(page.console(), false).print(rated, Set.of(), 0);

        assertThat(page.text()).isEqualTo("""
                checks: 1 task in 1 group, at most 256 at once, rate 10 per 1 s with a burst of 2, timeout 30 min
                web (limit 4, rate 300 per 1 min with a burst of 7): 1 task
                  fetch  curl $URL
                """);
    }

    @Test
    void an_omitted_task_does_not_count_as_succeeded_before() throws Exception {
        new DryRun(page.console(), false).print(plan(), Set.of("fetch", "x-a;b"), 1);

        assertThat(page.text()).startsWith("checks: 1 task in 1 group, at most 8 at once; 1 succeeded before\n");
    }

    @Test
    void tasks_that_have_succeeded_would_not_run() throws Exception {
        new DryRun(page.console(), false).print(plan(), Set.of("fetch", "x-a;b"), 2);

        assertThat(page.text())
                .startsWith("checks: 1 task in 1 group, at most 8 at once; 2 succeeded before\n")
                .doesNotContain("curl");
    }

    @Test
    void with_json_each_task_is_one_line() throws Exception {
        new DryRun(page.console(), true).print(plan(), Set.of(), 0);

        assertThat(page.text().lines())
                .hasSize(3)
                .first()
                .isEqualTo("{\"event\":\"task-planned\",\"id\":\"fetch\",\"group\":\"web\",\"command\":\"curl $URL\","
                        + "\"dir\":\"/somewhere\",\"timeoutMillis\":5000,\"attempts\":3,\"priority\":0,\"cost\":1}");
    }
}
