package dev.raddle.checks.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the flow cases of this repository, and tests that the runner detects wrong cases and wrong outcomes. */
class FlowCasesTest {

    private static final String A = "{'id': 'a', 'steps': [['return', 'A']]}";
    private static final String B = "{'id': 'b', 'steps': [['concat', ['a'], 'B']]}";

    @TempDir
    private Path folder;

    private String output = "";
    private String errors = "";

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"default", "fixed1", "fixed2"})
    void the_engine_passes_the_cases_on(String executor) throws Exception {
        int code = play("flow-cases-more.json", "--repeat", "1", "--executor", executor, "--times", "30");

        assertThat(output).matches("(?s)\\d+ passed, 0 failed\\s*");
        assertThat(code).isZero();
    }

    @Test
    void a_case_that_holds_passes() throws Exception {
        int code = playCase("'expect': {'status': 'SUCCESS', 'nodes': {'a': {'value': 'A'}, 'b': {'value': 'A>B'}}}");

        assertThat(output).isEqualTo("1 passed, 0 failed\n");
        assertThat(code).isZero();
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource(quoteCharacter = '~', delimiter = '|', textBlock = """
            'expect': {'status': 'FAILED'}                               | \
            status was expected to be "FAILED", was "SUCCESS"
            'expect': {'nodes': {'a': {'state': 'TIMEOUT'}}}             | \
            node "a": state was expected to be "TIMEOUT", was "SUCCESS"
            'expect': {'nodes': {'*': {'value': 'A'}}}                   | \
            node "b": value was expected to be "A", was "A>B"
            'expect': {'nodes': {'a': {'via': 'DEFAULT'}}}               | \
            node "a": via was expected to be "DEFAULT", was "ACTION"
            'expect': {'nodes': {'a': {'runs': 2}}}                      | node "a": runs was expected to be 2, was 1
            'expect': {'nodes': {'a': {'error': 'boom'}}}                | \
            node "a": error was expected to be "boom", was none
            'expect': {'nodes': {'a': {'interrupted': true}}}            | \
            node "a": interrupted was expected to be true, was false
            'expect': {'nodes': {'#runsTotal': 3}}                       | \
            the sum of all runs was expected to be 3, was 2
            'expect': {'notRun': ['b']}                                  | runs of "b" was expected to be 0, was 1
            'expect': {'order': [['b', 'a']]}                            | "b" must end before "a" begins, and did not
            'expect': {'order': [['b', 'a!end']]}                        | "b" must end before "a" ends, and did not
            'expect': {'buildError': ['cycle']}                          | \
            the plan was expected to be refused with [cycle], was accepted
            'script': [['started:a', '-'], ['ended:b', '!cancel'], ['runReturned', '-']], \
            'expect': {'status': 'CANCELLED'} | status was expected to be "CANCELLED", was "SUCCESS"
            """)
    void a_case_that_does_not_hold_fails_with(String expectation, String complaint) throws Exception {
        int code = playCase(expectation);

        assertThat(output).startsWith("X1 a title: ").contains(complaint).endsWith("\n0 passed, 1 failed\n");
        assertThat(code).isEqualTo(1);
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource(quoteCharacter = '~', delimiter = '|', textBlock = """
            'speed': 3                                                   | a case has the unknown key "speed"
            'run': {'speed': 3}                                          | run has the unknown key "speed"
            'run': {'executor': 'fast'}                                  | \
            an executor must be default or fixedN, was "fast"
            'run': {'onFailure': 'panic'}                                | \
            run.onFailure must be continue or failFast, was "panic"
            'script': [['finished:a', '-']]                              | \
            the script has the unknown condition "finished:a"
            'script': [['started:z', '-']]                               | names "z", which is not a node
            'script': [['started:a', '!stop']]                           | the script has the unknown action "!stop"
            'script': [['runReturned:p9', '-']]                          | names an unknown run
            'expect': {'nodes': {'a': {'speed': 1}}}                     | \
            the expectation of "a" has the unknown key "speed"
            'expect': {'nodes': {'a': {'state': 'DONE'}}}                | must be one of
            'expect': {'notRun': ['z']}                                  | names "z", which is not a node
            'generate': 'ring 5'                                         | a generator must be one of
            """)
    void a_malformed_case_fails_with(String part, String problem) throws Exception {
        int code = playCase(part);

        assertThat(output).startsWith("X1 a title: the case cannot be run: ").contains(problem);
        assertThat(code).isEqualTo(1);
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource(quoteCharacter = '~', delimiter = '|', textBlock = """
            {'id': 'a', 'speed': 1}                                      | node "a" has the unknown key "speed"
            {'id': 'a', 'steps': [['sleep', 5]]}                         | node "a" has the unknown step "sleep"
            {'id': 'a', 'steps': [['return']]}                           | step "return" of node "a" takes 1 arguments
            {'id': 'a', 'join': 'most'}                                  | node "a" has the unknown join "most"
            """)
    void a_malformed_node_fails_its_case_with(String node, String problem) throws Exception {
        play(file("{'cases': [{'id': 'X1', 'title': 't', 'nodes': [" + node + "]}, " + wholeCase("'note': 'fine'")
                        + "]}")
                .toString());

        assertThat(output)
                .startsWith("X1 t: the case cannot be run: " + problem)
                .endsWith("1 passed, 1 failed\n");
    }

    @Test
    void a_run_that_hangs_is_abandoned_and_its_threads_are_printed() throws Exception {
        String node = "{'id': 'a', 'steps': [['await', 'never']]}";

        play(
                file("{'cases': [{'id': 'X1', 'title': 't', 'nodes': [" + node + "]}]}")
                        .toString(),
                "--patience",
                "10"); // the action must have been entered by then

        assertThat(output).contains("run() must return, and had not after 10 s");
        assertThat(errors).contains("Action.call");
    }

    @Test
    void wrong_arguments_print_the_usage() throws Exception {
        assertThat(play("cases.json", "--fast", "yes")).isEqualTo(2);
        assertThat(errors).contains("unknown option \"--fast\"").contains("usage: flow-cases FILE.json");
        assertThat(play("there-is-no-such-file.json")).isEqualTo(2);
        assertThat(play(file("{'cases': ").toString())).isEqualTo(2);
        assertThat(errors).contains("is not JSON");
    }

    @Test
    void words_of_a_cycle_may_begin_at_any_node_but_not_be_reversed() {
        List<String> path = List.of("cycle", "a", "b", "c");
        Set<String> ids = Set.of("a", "b", "c", "d");

        assertThat(MessageWords.missing(path, "cycle: b → c → a → b", ids)).isNull();
        assertThat(MessageWords.missing(path, "cycle: c → b → a → c", ids)).isEqualTo("the path a, b, c");
        assertThat(MessageWords.missing(path, "cycle: b → c → b", ids)).isEqualTo("\"a\"");
    }

    private int playCase(String part) throws Exception {
        return play(file("{'cases': [" + wholeCase(part) + "]}").toString());
    }

    private static String wholeCase(String part) {
        return "{'id': 'X1', 'title': 'a title', 'nodes': [" + A + ", " + B + "], 'edges': [['a', 'b', 'must']], "
                + part + "}";
    }

    private Path file(String json) throws IOException {
        return Files.writeString(folder.resolve("cases.json"), json.replace('\'', '"'));
    }

    private int play(String... arguments) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = FlowCases.play(stream(out), stream(err), arguments);
        output = out.toString(StandardCharsets.UTF_8).replace("\r", "");
        errors = err.toString(StandardCharsets.UTF_8);
        return code;
    }

    private static PrintStream stream(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }
}
