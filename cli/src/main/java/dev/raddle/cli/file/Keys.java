package dev.raddle.cli.file;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The keys of a run file, by the map that contains them. The published schema has the same. */
final class Keys {
    static final List<String> FILE = words("name params secrets defaults groups jobs total timeout results tasks");
    static final List<String> TOTAL = words("queue rate burst");
    static final List<String> GROUP = words("limit queue weight rate burst");
    static final List<String> DEFAULTS = words("limit queue weight rate burst timeout retry env dir");
    static final List<String> TASK =
            words("id desc group run forEach env dir timeout retry priority cost needs when fallback undo essential");
    static final List<String> NEED = words("any atLeast of optional after");
    static final List<String> FALLBACK = words("value");
    static final List<String> RETRY = words("attempts backoff");

    /** The keys of other tools, in small letters only, by those that mean the same here. */
    private static final Map<String, List<String>> ELSEWHERE = Map.ofEntries(
            Map.entry("run", words("command commands cmd cmds script shell exec")),
            Map.entry("needs", words("dependson depends deps dependencies requires")),
            Map.entry("retry", words("retries maxretries attempts")),
            Map.entry("dir", words("cwd workdir workingdir workingdirectory directory")),
            Map.entry("env", words("environment variables vars")),
            Map.entry("when", words("if condition")),
            Map.entry("desc", words("description summary")),
            Map.entry("id", words("name key task")),
            Map.entry("forEach", words("matrix withitems items loop")),
            Map.entry("undo", words("compensate rollback cleanup")),
            Map.entry("limit", words("concurrency parallel parallelism maxparallel max")),
            Map.entry("jobs", words("concurrency parallel parallelism maxparallel")),
            Map.entry("tasks", words("steps stages targets")),
            Map.entry("params", words("parameters inputs arguments args vars")));

    private Keys() {}

    /** Returns the allowed key that has the meaning of a key of other tools. */
    static Optional<String> here(String key, List<String> allowed) {
        String letters = key.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "");
        return allowed.stream()
                .filter(name -> ELSEWHERE.getOrDefault(name, List.of()).contains(letters))
                .findFirst();
    }

    private static List<String> words(String text) {
        return List.of(text.split(" "));
    }
}
