package dev.raddle.cli.file;

import java.util.List;

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

    private Keys() {}

    private static List<String> words(String text) {
        return List.of(text.split(" "));
    }
}
