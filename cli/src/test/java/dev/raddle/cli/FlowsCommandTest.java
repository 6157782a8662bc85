package dev.raddle.cli;

import static dev.raddle.cli.Ended.raddle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.Schedule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import picocli.CommandLine.Model.CommandSpec;

/** Runs the command in this JVM, against a real server. */
@Timeout(200)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
class FlowsCommandTest {
    private static LocalPostgres postgres;

    private final AtomicInteger paid = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger(1); // how often the next shipments fail
    private final CountDownLatch shipping = new CountDownLatch(1);
    private String database;

    @BeforeAll
    static void start_server() throws Exception {
        postgres = LocalPostgres.start();
    }

    @AfterAll
    static void stop_server() throws Exception {
        postgres.close();
    }

    @BeforeEach
    void create_database() throws Exception {
        database = postgres.newDatabase();
    }

    private Ended flows(String... arguments) {
        List<String> words = new ArrayList<>(List.of("flows"));
        words.addAll(List.of(arguments));
        words.addAll(List.of("--db", postgres.url("postgres", database)));
        return raddle(words.toArray(String[]::new));
    }

    /** A flow with two nodes, the second of which fails a few times. */
    private FlowPlan<String, String> checkout() {
        FlowBuilder<String> f = FlowPlan.define("checkout", String.class);
        Node<String> pay = f.node("pay", c -> "paid by a secret card " + paid.incrementAndGet());
        Node<String> ship = f.node("ship", pay, receipt -> {
            if (refused.getAndDecrement() > 0) {
                throw new IOException("no van\n");
            }
            return receipt;
        });
        return f.returning(ship);
    }

    /** A flow that runs until it is cancelled. */
    private FlowPlan<String, String> endless() {
        FlowBuilder<String> f = FlowPlan.define("endless", String.class);
        return f.returning(f.node("wait", c -> {
            shipping.countDown();
            new CountDownLatch(1).await();
            return "never";
        }));
    }

    /** A flow that fails and cannot be undone. */
    private FlowPlan<String, String> irrevocable() {
        FlowBuilder<String> f = FlowPlan.define("booking", String.class);
        Node<String> flight = f.node("flight", c -> "flight").compensate(value -> {
            throw new IOException("airline is closed");
        });
        return f.returning(f.node("car", flight, value -> {
            throw new IOException("no car");
        }));
    }

    private FlowService worker() {
        return postgres.service(database)
                .register(endless(), "7", FlowCodec.text())
                .register(checkout(), "1", FlowCodec.text())
                .register(irrevocable(), "1", FlowCodec.text())
                .start();
    }

    @Test
    void schedules_are_listed_with_their_next_moments() {
        FlowPlan<String, String> checkout = checkout();
        try (FlowService worker = postgres.service(database)
                .register(checkout, "1", FlowCodec.text())
                .start()) {
            assertThat(flows("schedules").succeeded()).isEqualTo("no schedules\n");
            worker.schedule("nightly", checkout, Schedule.cron("0 3 * * *", ZoneOffset.UTC), moment -> "all");

            assertThat(flows("schedules").succeeded())
                    .matches("SCHEDULE +FLOW +CRON +ZONE +NEXT +LATEST RUN +PROBLEM\n"
                            + "nightly +checkout +0 3 \\* \\* \\* +Z +\\S+T03:00:00Z *\n");
            worker.pauseSchedule("nightly");
            assertThat(flows("schedules", "--json").succeeded()).contains("\"nextAt\":null");
        }
    }

    @Test
    void a_schedule_is_paused_resumed_and_removed_by_the_command_without_a_worker() throws Exception {
        FlowPlan<String, String> checkout = checkout();
        try (FlowService worker = postgres.service(database)
                .register(checkout, "1", FlowCodec.text())
                .start()) {
            worker.schedule("nightly", checkout, Schedule.cron("0 3 29 2 *", ZoneOffset.UTC), moment -> "all");
        }

        for (int again = 0; again < 2; again++) {
            assertThat(flows("pause-schedule", "nightly").succeeded())
                    .isEqualTo("schedule \"nightly\" is paused; runs that were submitted go on\n");
            assertThat(flows("schedules").succeeded()).contains("  paused");
        }
        for (int again = 0; again < 2; again++) {
            assertThat(flows("resume-schedule", "nightly").succeeded())
                    .matches("schedule \"nightly\" has its next round at \\d+-02-29T03:00:00Z\n");
            assertThat(flows("schedules").succeeded())
                    .contains("-02-29T03:00:00Z")
                    .doesNotContain("paused");
        }
        assertThat(flows("remove-schedule", "nightly").succeeded())
                .isEqualTo("schedule \"nightly\" is removed; runs that were submitted go on\n");
        assertThat(flows("schedules").succeeded()).isEqualTo("no schedules\n");
        for (String command : new String[] {"pause-schedule", "resume-schedule", "remove-schedule"}) {
            assertThat(flows(command, "weekly"))
                    .isEqualTo(new Ended(
                            1,
                            "",
                            "raddle: there is no schedule \"weekly\"; raddle flows schedules lists those that"
                                    + " exist\n"));
        }
    }

    @Test
    void a_failed_run_is_listed_and_shown_with_its_journal_and_without_values() throws Exception {
        try (FlowService worker = worker()) {
            worker.submit("checkout", "order-17", "a secret address");
            worker.await("order-17");

            assertThat(flows("list", "--flow", "checkout", "--state", "failed,timed-out")
                            .succeeded())
                    .matches("(?s)RUN +FLOW +VERSION +STATE +CLAIMS +CREATED +ENDED +REASON\n"
                            + "order-17 +checkout +1 +FAILED +1 +\\S+Z +\\S+Z +java.io.IOException: no van\\\\n\n");
            assertThat(flows("list", "--state", "SUCCESS").succeeded()).isEqualTo("no runs\n");
            assertThat(flows("show", "order-17").succeeded())
                    .containsPattern("run +order-17\nstate +FAILED\nflow +checkout, version 1\n"
                            + "failure +java.io.IOException: no van\\\\n\nworker +\\S+, claim 1\n"
                            + "next +it can run again: .*\ncreated +\\S+Z\n")
                    .containsPattern("\n1 +pay +SUCCESS, attempt 1\n")
                    .containsPattern("\n1 +ship +FAILED, attempt 1 +java.io.IOException: no van\\\\n\n")
                    .containsPattern("\n1 +ends as FAILED\n")
                    .contains("\n    at dev.raddle.cli.FlowsCommandTest")
                    .doesNotContain("secret");
        }
    }

    @Test
    void stuck_runs_are_listed_with_their_reason_and_no_others() throws Exception {
        try (FlowService worker = worker()) {
            assertThat(flows("list", "--stuck").succeeded()).isEqualTo("no runs\n");
            worker.submit("booking", "order-17", "");
            worker.submit("checkout", "order-18", "");
            worker.await("order-17");
            worker.await("order-18");
        }
        insertRun("order-19");

        String stuck = flows("list", "--stuck").succeeded();
        assertThat(stuck)
                .matches("RUN .* REASON\norder-17 +booking +1 +STUCK +1 .* it is FAILED, and is not undone: .*\n")
                .contains("the compensation of node \"flight\" failed");
        assertThat(flows("list", "--stuck", "--json").succeeded())
                .contains("airline is closed")
                .doesNotContain("order-18", "order-19");
        assertThat(flows("list", "--state", "stuck").succeeded()).isEqualTo(stuck);
        assertThat(flows("list", "--stuck", "--state", "failed").succeeded())
                .contains("order-17", "order-18")
                .doesNotContain("order-19");
        assertThat(flows("list", "--stuck", "--flow", "checkout").succeeded()).isEqualTo("no runs\n");
    }

    @Test
    void json_has_the_run_and_its_journal() throws Exception {
        try (FlowService worker = worker()) {
            worker.submit("checkout", "order-17", "a secret address");
            worker.await("order-17");
        }
        Load json = new Load(LoadSettings.builder().build());

        String list = flows("list", "--json").succeeded();
        assertThat(list).hasLineCount(1);
        Map<?, ?> run = (Map<?, ?>) ((List<?>) ((Map<?, ?>) json.loadFromString(list)).get("runs")).getFirst();
        assertThat(run.keySet().toString())
                .isEqualTo("[id, flow, version, state, claims, worker, createdAt, begunAt, endedAt, failure,"
                        + " problem, waitsUntil]");
        assertThat(run.get("state")).isEqualTo("FAILED");

        String shown = flows("show", "order-17", "--json").succeeded();
        assertThat(shown).hasLineCount(1).doesNotContain("secret");
        List<?> entries = (List<?>) ((Map<?, ?>) json.loadFromString(shown)).get("entries");
        assertThat(entries.stream().map(entry -> String.valueOf(((Map<?, ?>) entry).get("kind"))))
                .containsExactly("BEGUN", "NODE", "NODE", "ENDED");
        assertThat(entries.get(1).toString())
                .matches("\\{claim=1, number=2, kind=NODE, node=pay, state=SUCCESS, via=ACTION, count=1, at=20[^ ]*Z,"
                        + " failure=null, nodes=\\[], place=1}");
    }

    @Test
    void a_page_shows_the_nodes_and_the_journal_without_values(@TempDir Path directory) throws Exception {
        try (FlowService worker = worker()) {
            worker.submit("checkout", "order-17", "a secret address");
            worker.await("order-17");
        }
        Path file = Files.writeString(directory.resolve("order-17.html"), "an earlier page");

        String shown = flows("show", "order-17", "--html", file.toString()).succeeded();

        assertThat(shown).isEqualTo(flows("show", "order-17").succeeded());
        assertThat(Files.readString(file))
                .contains("order-17", "\"pay\":{\"state\":\"succeeded\"", "\"ship\":{\"state\":\"failed\"", "no van")
                .doesNotContain("secret");
        assertThat(directory).isDirectoryContaining(file::equals);
    }

    @Test
    void a_page_that_cannot_be_written_has_exit_code_70_and_one_of_a_missing_run_is_not_written(@TempDir Path directory)
            throws Exception {
        postgres.service(database).start().close();
        insertRun("order-1");

        Ended unwritable = flows(
                "show", "order-1", "--html", directory.resolve("no/page.html").toString());
        assertThat(unwritable.exitCode()).isEqualTo(70);
        assertThat(unwritable.err())
                .contains("there is no such file or directory")
                .hasLineCount(1);

        Path page = directory.resolve("page.html");
        assertThat(flows("show", "order-2", "--html", page.toString()).exitCode())
                .isEqualTo(1);
        assertThat(page).doesNotExist();
    }

    @Test
    void the_limit_of_a_list_is_named_when_there_may_be_more_runs() throws Exception {
        postgres.service(database).start().close();
        for (int i = 1; i <= 3; i++) {
            insertRun("order-" + i);
        }

        assertThat(flows("list", "--limit", "2").succeeded())
                .contains("order-3", "order-2", "WITHOUT_VERSION")
                .doesNotContain("order-1")
                .endsWith("\nthe newest 2; --limit shows more\n");
        assertThat(flows("list", "--limit", "4").succeeded()).hasLineCount(4);
    }

    private void insertRun(String id) throws Exception {
        postgres.execute(database, "INSERT INTO raddle_run (id, flow, version) VALUES ('" + id + "', 'checkout', '1')");
    }

    @Test
    void nodes_of_a_failed_run_run_again_at_the_request_of_the_command() throws Exception {
        try (FlowService worker = worker()) {
            worker.submit("checkout", "order-17", "");
            worker.await("order-17");

            assertThat(flows("rerun", "order-17").succeeded())
                    .isEqualTo("run \"order-17\" will be run again by the next free worker\n");
            assertThat(worker.await("order-17").state()).isEqualTo(RunState.SUCCESS);
            assertThat(worker.value("order-17")).isEqualTo("paid by a secret card 1");

            flows("rerun", "order-17", "pay").succeeded();
            worker.await("order-17");
            assertThat(worker.value("order-17")).isEqualTo("paid by a secret card 2");
            assertThat(flows("show", "order-17").succeeded()).contains(", again: pay, ship\n");
        }
    }

    @Test
    void a_node_that_the_run_does_not_have_is_refused_since_no_worker_could_begin_with_it() throws Exception {
        try (FlowService worker = worker()) {
            worker.submit("checkout", "order-17", "");
            worker.await("order-17");

            Ended ended = flows("rerun", "order-17", "pay", "shp");

            assertThat(ended.exitCode()).isEqualTo(2);
            assertThat(ended.err()).contains("no entry of node \"shp\"", "entries of [pay, ship]");
            assertThat(worker.status("order-17").orElseThrow().state()).isEqualTo(RunState.FAILED);
        }
    }

    @Test
    void a_run_is_cancelled_by_its_worker_or_at_once_if_it_has_none() throws Exception {
        try (FlowService worker = worker()) {
            worker.submit("endless", "order-1", "");
            shipping.await();
            assertThat(flows("cancel", "order-1", "--reason", "ordered twice").succeeded())
                    .matches("run \"order-1\" (is RUNNING; its worker will cancel it|has ended: CANCELLED)\n");
            assertThat(worker.await("order-1").state()).isEqualTo(RunState.CANCELLED);
        }
        insertRun("order-2");

        assertThat(flows("cancel", "order-2").succeeded()).isEqualTo("run \"order-2\" has ended: CANCELLED\n");
    }

    @Test
    void a_request_that_comes_too_late_or_too_early_has_exit_code_1() throws Exception {
        try (FlowService worker = worker()) {
            refused.set(0);
            worker.submit("checkout", "order-1", "");
            worker.await("order-1");
            worker.submit("endless", "order-2", "");
            shipping.await();

            assertThat(flows("cancel", "order-1"))
                    .isEqualTo(new Ended(1, "", "raddle: run \"order-1\" has ended before: SUCCESS\n"));
            assertThat(flows("rerun", "order-2"))
                    .isEqualTo(new Ended(1, "", "raddle: run \"order-2\" has not ended: RUNNING\n"));
            assertThat(flows("rerun", "order-1").err())
                    .contains("run \"order-1\" was successful; name the nodes to run again");
            for (String command : new String[] {"show", "cancel", "rerun"}) {
                assertThat(flows(command, "order-3"))
                        .isEqualTo(new Ended(
                                1,
                                "",
                                "raddle: there is no run \"order-3\"; it may have been removed after its end\n"));
            }
        }
    }

    @Test
    void a_database_without_tables_or_without_an_answer_has_exit_code_70() throws Exception {
        Ended empty = flows("list");
        assertThat(empty.exitCode()).isEqualTo(70);
        assertThat(empty.err())
                .startsWith("raddle: the database has no tables for runs")
                .hasLineCount(1);

        Ended away = raddle("flows", "list", "--db", "postgresql://127.0.0.1:" + LocalRedis.freePort() + "/shop");
        assertThat(away.exitCode()).isEqualTo(70);
        assertThat(away.err())
                .startsWith("raddle: the database cannot be used: ")
                .hasLineCount(1);
    }

    @Test
    void a_user_who_may_only_read_can_look_but_not_cancel(@TempDir Path directory) throws Exception {
        letShopLook();
        insertRun("order-1");
        String file = passwordFile(directory, LocalPostgres.PASSWORD).toString();
        String url = postgres.url("shop", database);

        assertThat(raddle("flows", "list", "--db", url, "--password-file", file).succeeded())
                .contains("order-1");
        assertThat(raddle("flows", "show", "order-1", "--db", url, "--password-file", file)
                        .succeeded())
                .contains("nothing recorded yet");
        Ended cancel = raddle("flows", "cancel", "order-1", "--db", url, "--password-file", file);
        assertThat(cancel.exitCode()).isEqualTo(70);
        assertThat(cancel.err()).contains("permission denied").hasLineCount(1);
    }

    /** Creates the tables, and a user with a password who may only look. */
    private void letShopLook() throws Exception {
        postgres.service(database).start().close();
        postgres.execute(database, ruleOfTheGuide().replace("ops", "shop"));
    }

    /** Returns the statement of the guide for a user who may only look. */
    private static String ruleOfTheGuide() throws Exception {
        String guide = Files.readString(Path.of("..", "docs", "guide", "durable.md"));
        int begin = guide.indexOf("GRANT SELECT");
        return guide.substring(begin, guide.indexOf(";", begin));
    }

    private static Path passwordFile(Path directory, String password) throws IOException {
        return Files.writeString(directory.resolve("password"), password + "\n");
    }

    @Test
    void a_password_comes_from_the_url_in_the_environment_or_from_another_variable() throws Exception {
        letShopLook();
        String url = postgres.url("shop", database);
        String encoded = url.replace("shop@", "shop:open%20sesame%2F1@");
        CommandSpec spec = CommandSpec.create();

        new FlowsServerOptions(Map.of("RADDLE_DB", encoded)).open(spec).close();
        new FlowsServerOptions(Map.of("RADDLE_DB", url, "PGPASSWORD", LocalPostgres.PASSWORD))
                .open(spec)
                .close();
        assertThatThrownBy(() -> new FlowsServerOptions(Map.of("RADDLE_DB", url)).open(spec))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("password");
    }

    @Test
    void a_password_comes_from_the_file_of_passwords_of_the_user(@TempDir Path directory) throws Exception {
        letShopLook();
        Path passwords = directory.resolve("pgpass");
        Files.writeString(passwords, "127.0.0.1:" + postgres.port() + ":*:shop:" + LocalPostgres.PASSWORD + "\n");
        System.setProperty("org.postgresql.pgpassfile", passwords.toString());
        try {
            assertThat(raddle("flows", "list", "--db", postgres.url("shop", database))
                            .succeeded())
                    .isEqualTo("no runs\n");
        } finally {
            System.clearProperty("org.postgresql.pgpassfile");
        }
    }

    @Test
    void a_wrong_password_is_refused_without_being_repeated(@TempDir Path directory) throws Exception {
        String file = passwordFile(directory, "wrong-word").toString();

        Ended ended = raddle("flows", "list", "--db", postgres.url("shop", database), "--password-file", file);

        assertThat(ended.exitCode()).isEqualTo(70);
        assertThat(ended.err())
                .contains("password authentication failed")
                .doesNotContain("wrong-word")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "flows list --db postgresql://u:open-sesame@host/db",
                "flows list --db jdbc:postgresql://host/db?user=u&password=open-sesame",
                "flows list --db jdbc:postgresql://host/db?sslpassword=open-sesame",
                "flows list --db postgresql://u:open-sesame%zz@host/db",
                "flows list --db postgresql://u:open-sesame@host:port/db",
                "flows list --db mysql://u:open-sesame@host/db?password=open-sesame",
                "flows list --bd=postgresql://u:open-sesame@host/db",
                "flows list postgresql://u:open-sesame@host/db",
                "flows show a jdbc:postgresql://host/db?user=u&password=open-sesame",
                "flows list --limit postgresql://u:open-sesame@host/db",
            })
    void a_password_in_a_command_line_is_refused_without_being_repeated(String words) {
        Ended ended = raddle(words.split(" "));

        assertThat(ended.exitCode()).isEqualTo(2);
        assertThat(ended.out() + ended.err()).isNotEmpty().doesNotContain("open-sesame");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "flows                                        | Name a command: list, show, cancel, rerun, schedules",
                "flows pause-schedule --db postgresql://h/db  | Missing required parameter: 'NAME'",
                "flows list                                   | Name the database by --db or by the environment",
                "flows list --db nonsense                     | the URL of the database must be like postgresql://",
                "flows list --db postgresql:///db             | the URL of the database must be like postgresql://",
                "flows list --db postgresql://h:port/db       | the URL of the database must be like postgresql://",
                "flows list --db postgresql://u:p@h/db        | --db must not have a password",
                "flows show --db postgresql://h/db            | Missing required parameter: 'RUN'",
            })
    void invalid_arguments_are_explained(String words, String message) {
        Ended ended = raddle(words.split(" +"));

        assertThat(ended.err()).contains(message).contains("See: raddle flows");
        assertThat(ended.exitCode()).isEqualTo(2);
    }

    @Test
    void invalid_filters_and_ids_are_explained() throws Exception {
        postgres.service(database).start().close();

        assertThat(flows("list", "--state", "DONE").err())
                .contains("there is no state \"DONE\"; the states are [WAITING, WITHOUT_VERSION, RUNNING");
        assertThat(flows("list", "--limit", "0").err()).contains("limit must be between 1 and 10000, was 0");
        assertThat(flows("show", "x".repeat(201)).exitCode()).isEqualTo(2);
    }
}
