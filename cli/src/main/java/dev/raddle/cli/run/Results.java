package dev.raddle.cli.run;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Keeps the last result of every task, in the order of the plan. For one thread at a time. */
final class Results implements RunListener {
    private final Map<String, TaskResult> results = new LinkedHashMap<>();

    void put(TaskResult result) {
        results.put(result.id(), result);
    }

    @Override
    public void on(RunEvent event) {
        if (event instanceof RunEvent.TaskEnded ended) {
            put(ended.result());
        }
    }

    boolean succeeded(String id) {
        TaskResult result = results.get(id);
        return result != null && result.succeeded();
    }

    void forEach(Iterable<String> order, Report.Action<TaskResult> action) throws IOException {
        for (String id : order) {
            TaskResult result = results.get(id);
            if (result != null) {
                action.accept(result);
            }
        }
    }
}
