package dev.raddle.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.microsoft.playwright.CDPSession;
import dev.raddle.console.FastConsole;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Does the heap of a page stay flat? That of the program is not measured here: Playwright keeps each request in it. */
class PageSoakTest extends InChromium {

    private static final String FUNCTIONS = """
            async () => {
                const { effect } = await import('/page/html.js'), stream = await import('/page/stream.js');
                const until = condition => new Promise(done => {
                    const end = effect(() => { if (condition(stream.shown.value)) done(setTimeout(() => end())); });
                });
                window.received = 0;
                effect(() => { if (stream.shown.value) window.received++; });
                const waiting = shown => Object.values(shown?.data.waiting ?? {});
                window.task = name => until(shown => waiting(shown).some(row => row.name === name));
                window.view = name => until(shown => shown?.view === name);
                window.reconnect = async () => {
                    await until(() => stream.connection.value.status === 'lost');
                    stream.retry();
                    await until(() => stream.connection.value.status === 'live');
                };
                window.begin = promise => {
                    window.done = false;
                    promise.then(() => { window.done = true; });
                };
            }""";

    private int number;

    @Test
    void the_heap_does_not_grow_with_the_number_of_patches_connections_and_screens() throws Exception {
        Program program = start(new Program(FastConsole.start()));
        GroupExecutor executor =
                program.executor("orders", GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1));
        program.submit(executor, "busy", "holder", 1);
        complaintsAreExpected = true; // the browser reports each lost connection
        open(program.console, "#/group?executor=orders&key=busy");
        page.evaluate(FUNCTIONS);
        change(executor, program, 300);
        long before = heap();
        int received = (Integer) page.evaluate("received");

        change(executor, program, 1_500);

        assertThat((Integer) page.evaluate("received") - received).isGreaterThan(1_500);
        assertThat(heap() - before).isLessThan(60_000);
        assertThat(complaints).allMatch(complaint -> complaint.contains("net::ERR_"));
    }

    /** Has so many tasks wait, each until the page has its row; now and then the connection or the screen changes. */
    private void change(GroupExecutor executor, Program program, int tasks) {
        for (int i = 0; i < tasks; i++) {
            String name = "waiter-" + ++number;
            TaskHandle<String> task = executor.submit("busy", name, program::work);
            await("name => begin(task(name))", name);
            task.cancel(true);
            if (i % 100 == 33) {
                streams().forEach(Thread::interrupt);
                await("() => begin(reconnect())", null);
            }
            if (i % 100 == 66) {
                await("() => { location.hash = '#/groups'; begin(view('groups')); }", null);
                await("() => { history.back(); begin(view('group')); }", null);
            }
        }
    }

    /**
     * Waits for the promise that an expression begins. The browser is not asked for a promise: it keeps weakly what it
     * waits for, and may lose it if it collects garbage just then.
     */
    private void await(String expression, Object argument) {
        page.evaluate(expression, argument);
        page.waitForCondition(() -> (Boolean) page.evaluate("done"));
    }

    /** Returns the threads that send to a page. */
    private static List<Thread> streams() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(each -> each.getKey().getName().startsWith("raddle-console-"))
                .filter(each -> Stream.of(each.getValue())
                        .anyMatch(frame -> frame.getMethodName().equals("stream")))
                .map(each -> each.getKey())
                .toList();
    }

    /** Returns the bytes of all objects, without compiled code and what the browser has of its own. */
    private long heap() {
        CDPSession session = page.context().newCDPSession(page);
        StringBuilder text = new StringBuilder();
        session.on(
                "HeapProfiler.addHeapSnapshotChunk",
                chunk -> text.append(chunk.get("chunk").getAsString()));
        session.send("HeapProfiler.collectGarbage");
        JsonObject options = new JsonObject();
        options.addProperty("reportProgress", false);
        session.send("HeapProfiler.takeHeapSnapshot", options);
        session.detach();
        JsonNode snapshot = new JsonMapper().readTree(text.toString());
        JsonNode meta = snapshot.at("/snapshot/meta");
        List<String> types =
                meta.at("/node_types/0").valueStream().map(JsonNode::asString).toList();
        List<String> fields =
                meta.at("/node_fields").valueStream().map(JsonNode::asString).toList();
        JsonNode nodes = snapshot.path("nodes");
        long bytes = 0;
        for (int i = 0; i < nodes.size(); i += fields.size()) {
            String type = types.get(nodes.get(i + fields.indexOf("type")).intValue());
            if (!type.equals("code") && !type.equals("native")) {
                bytes += nodes.get(i + fields.indexOf("self_size")).longValue();
            }
        }
        return bytes;
    }
}
