package dev.raddle.restate;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.processes.Await;
import dev.raddle.processes.WorkerJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * The program of a worker process that is killed. Its flow has the nodes a, b, c and d in a row; c waits for a file.
 * Each action appends a line with the run, the node and the process to a file that the workers share.
 */
final class CrashWorker {
    static final String SERVICE = "crash";

    private final Path directory;

    CrashWorker(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] arguments) {
        CrashWorker worker = new CrashWorker(Path.of(arguments[0]));
        Worker server = Worker.serve(RestateFlows.service(SERVICE, worker.plan(), FlowCodec.text()));
        WorkerJvm.answer("ready " + server.port());
    }

    /** Starts this program in a process of its own, without waiting until it serves. */
    static WorkerJvm start(Path directory) {
        return WorkerJvm.start("crash-worker", CrashWorker.class, List.of(directory.toString()));
    }

    /** Waits until a worker serves, and returns its port. Called once for a worker. */
    static int portOf(WorkerJvm worker) {
        return Integer.parseInt(worker.await("ready ").split(" ")[1]);
    }

    private FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define(SERVICE, String.class);
        Node<String> a = f.node("a", context -> {
            write(directory, context.param(), "a");
            return context.param() + ": a";
        });
        Node<String> b = f.node("b", a, (context, value) -> {
            write(directory, context.param(), "b");
            return value + "b";
        });
        Node<String> c = f.node("c", b, (context, value) -> {
            write(directory, context.param(), "c");
            Await.until("the test goes on", () -> Files.exists(gate(directory)));
            return value + "c";
        });
        return f.returning(f.node("d", c, (context, value) -> {
            write(directory, context.param(), "d");
            return value + "d";
        }));
    }

    static Path gate(Path directory) {
        return directory.resolve("gate");
    }

    private static Path file(Path directory) {
        return directory.resolve("calls");
    }

    private static void write(Path directory, String run, String node) {
        String line = run + " " + node + " " + ProcessHandle.current().pid() + "\n";
        try {
            Files.writeString(file(directory), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the lines of all calls, each as run, node and process. */
    static List<String> calls(Path directory) {
        try {
            return Files.exists(file(directory)) ? Files.readAllLines(file(directory)) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
