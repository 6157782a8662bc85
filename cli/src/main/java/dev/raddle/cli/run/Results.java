package dev.raddle.cli.run;

import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** Keeps the last result of every task, in the order of the plan. For one thread at a time. */
final class Results implements RunListener {
    private final Map<String, TaskResult> results = new LinkedHashMap<>();
    private final Map<String, String> undone = new HashMap<>();

    void put(TaskResult result) {
        results.put(result.id(), result);
    }

    @Override
    public void on(RunEvent event) {
        switch (event) {
            case RunEvent.TaskEnded ended -> put(ended.result());
            case RunEvent.TaskUndone end -> undone.put(end.id(), Objects.requireNonNullElse(end.error(), ""));
            default -> {} // changes no result
        }
    }

    /** Returns the tasks whose undo command ran, with why it failed, or an empty text. */
    Map<String, String> undone() {
        return undone;
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
