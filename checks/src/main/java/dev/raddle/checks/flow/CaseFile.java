package dev.raddle.checks.flow;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** A file of cases. */
final class CaseFile {

    private static final String SCHEMA = "raddle-flow-cases/1";
    private static final int LARGEST = 256 * 1024 * 1024;

    /**
     * A case of the file, or the reason why it is malformed.
     *
     * @param id the name
     * @param title the property that it tests
     * @param flowCase the case, or null
     * @param problem the reason why it is malformed, or null
     */
    record Entry(String id, String title, FlowCase flowCase, String problem) {}

    private static final Set<String> TIMES = Set.of("timeoutMs", "limitMs");

    private CaseFile() {}

    /**
     * Reads a file. A malformed case does not affect the others.
     *
     * @param file the file
     * @param times the factor by which all timeouts and limits of the file are multiplied
     * @throws IOException if the file cannot be read
     * @throws CaseFormatException if it is not a file of cases
     */
    static List<Entry> read(Path file, int times) throws IOException {
        Object root;
        LoadSettings settings = LoadSettings.builder()
                .setLabel(file.toString())
                .setCodePointLimit(LARGEST)
                .build();
        try {
            root = new Load(settings).loadFromString(Files.readString(file));
        } catch (YamlEngineException broken) {
            throw new CaseFormatException(file + " is not JSON: " + broken.getMessage());
        }
        JsonObject map = JsonObject.of(file.toString(), root);
        String schema = map.text("schema", SCHEMA);
        if (!schema.equals(SCHEMA)) {
            throw new CaseFormatException("the schema of " + file + " must be " + SCHEMA + ", was " + schema);
        }
        List<Entry> entries = new ArrayList<>();
        for (Object each : map.list("cases")) {
            entries.add(entry(times == 1 ? each : multiplied(each, times)));
        }
        return entries;
    }

    private static Object multiplied(Object value, int times) {
        return switch (value) {
            case List<?> list ->
                list.stream().map(each -> multiplied(each, times)).toList();
            case Map<?, ?> map -> {
                Map<Object, Object> copy = new LinkedHashMap<>();
                map.forEach((key, each) -> copy.put(
                        key,
                        each instanceof Integer number && TIMES.contains(key)
                                ? number * times
                                : multiplied(each, times)));
                yield copy;
            }
            case null, default -> value;
        };
    }

    private static Entry entry(Object value) {
        String id = "?";
        String title = "";
        if (value instanceof Map<?, ?> map) {
            id = String.valueOf(map.get("id"));
            title = String.valueOf(map.get("title"));
        }
        try {
            return new Entry(id, title, FlowCase.parse(value), null);
        } catch (CaseFormatException problem) {
            return new Entry(id, title, null, problem.getMessage());
        }
    }
}
