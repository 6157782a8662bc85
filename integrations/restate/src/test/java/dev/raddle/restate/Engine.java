package dev.raddle.restate;

import dev.raddle.processes.ProcessDirectory;
import dev.raddle.processes.RestateServer;
import dev.raddle.processes.RestateServer.Answer;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A real Restate server, with what tests ask of it. */
final class Engine implements AutoCloseable {
    private final RestateServer server;

    private Engine(RestateServer server) {
        this.server = server;
    }

    /**
     * Starts an engine.
     *
     * @param settings environment variables, in addition to the ones that make it small and quick
     */
    static Engine start(Path executable, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(RestateServer.SMALL);
        all.putAll(settings);
        return new Engine(RestateServer.start(executable, ProcessDirectory.create("raddle-restate"), all));
    }

    // Its life.

    /** Kills the server, with SIGKILL. */
    void kill() {
        server.kill();
    }

    /** Starts a killed server on its ports with the data that it had on its disk. */
    void restart() {
        server.restart();
    }

    String log() {
        return server.log();
    }

    @Override
    public void close() {
        server.close();
    }

    // Its administration.

    /** Registers the services of a worker, and replaces an earlier registration of the same address. */
    void register(int port) {
        server.register(port);
    }

    /** Returns the rows of a query, as JSON. */
    String query(String sql) {
        return server.query(sql);
    }

    /** Returns the id of the invocation of a flow. */
    String invocation(String service, String run) {
        String rows = query("SELECT id FROM sys_invocation WHERE target = '" + service + "/" + run + "/run'");
        Matcher id = Pattern.compile("inv_[A-Za-z0-9]+").matcher(rows);
        if (!id.find()) {
            throw new AssertionError("no invocation of run " + run + " of " + service + ": " + rows);
        }
        return id.group();
    }

    /** Returns the names of the journal's entries of a flow, in their order. */
    List<String> journal(String service, String run) {
        String rows = query("SELECT index, name, entry_type FROM sys_journal WHERE id = '" + invocation(service, run)
                + "' ORDER BY index");
        return Pattern.compile("\\{[^}]*}")
                .matcher(rows)
                .results()
                .map(MatchResult::group)
                .toList();
    }

    /** Returns the failure of the last attempt of a flow, as JSON. */
    String lastFailure(String service, String run) {
        return query("SELECT last_failure FROM sys_invocation WHERE target = '" + service + "/" + run + "/run'");
    }

    void cancel(String service, String run) {
        end(service, run, "cancel");
    }

    /** Ends a flow without asking its worker. */
    void killRun(String service, String run) {
        end(service, run, "kill");
    }

    private void end(String service, String run, String how) {
        String path = "/invocations/" + invocation(service, run) + "/" + how;
        server.send(server.admin(path).method("PATCH", BodyPublishers.noBody())).value();
    }

    // Its callers.

    /** Begins a flow, without waiting for its end. */
    void submit(String service, String run, byte[] parameter) {
        call(service, run, "run/send", parameter, Map.of()).value();
    }

    /** Runs a flow and waits for its end. */
    Answer run(String service, String run, byte[] parameter) {
        return call(service, run, "run", parameter, Map.of());
    }

    /** Waits for the end of a flow. */
    Answer attach(String service, String run) {
        return server.send(server.ingress("/restate/workflow/" + service + "/" + run + "/attach"));
    }

    CompletableFuture<Answer> attachLater(String service, String run) {
        return CompletableFuture.supplyAsync(
                () -> attach(service, run), task -> Thread.ofVirtual().start(task));
    }

    /** Calls a handler of a flow. */
    Answer call(String service, String run, String handler, byte[] body, Map<String, String> headers) {
        HttpRequest.Builder request =
                server.ingress("/" + service + "/" + run + "/" + handler).POST(BodyPublishers.ofByteArray(body));
        headers.forEach(request::header);
        return server.send(request);
    }
}
