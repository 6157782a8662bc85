package dev.raddle.console;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes one script of a module of JavaScript and of those that it imports: a browser does not load modules from a disk.
 * Each module becomes a function that returns its exports, after those that it needs. It understands the forms of
 * imports and exports that the modules of the page have, and refuses others.
 */
final class LinkedScript {

    /** Reads the text of a module by its name. */
    @FunctionalInterface
    interface Source {
        String read(String name) throws IOException;
    }

    /** What precedes the code of a module: blanks, comments and imports. */
    private static final Pattern HEAD = Pattern.compile(
            "\\G(?:\\s+|//.*|import\\s*(?:(?<names>\\{[^}]*})|\\*\\s*as\\s+(?<all>[\\w$]+)|(?<one>[\\w$]+))\\s*"
                    + "from\\s*[\"'](?<from>[^\"']+)[\"'];?)");

    /** Tried only where the word is: an expression that is tried at each character takes longer than all the rest. */
    private static final Pattern EXPORT = Pattern.compile(
            "(?m)(?:^|(?<=[;}]))export\\s*(?:\\{(?<names>[^}]*)}(?:\\s*from\\s*[\"'](?<from>[^\"']+)[\"'])?;?"
                    + "|(?<default>default\\s)|(?<declared>(?:async\\s+)?(?:const|function)\\s+(?<name>[\\w$]+)))");

    private static final List<String> LEFT_OVER = List.of("\nimport", "\nexport", "</script");

    private final Source source;
    private final Map<String, String> modules = new LinkedHashMap<>(); // as functions, each after its imports

    private LinkedScript(Source source) {
        this.source = source;
    }

    /**
     * Returns the script.
     *
     * @throws IOException if a module cannot be read
     * @throws IllegalArgumentException if a module has a form that is not understood
     */
    static String of(String main, Source source) throws IOException {
        LinkedScript script = new LinkedScript(source);
        script.add(main, new ArrayList<>());
        StringBuilder text = new StringBuilder("'use strict';\nconst modules = {};\n");
        script.modules.forEach((name, function) -> text.append("modules['")
                .append(name)
                .append("'] = ")
                .append(function)
                .append(";\n"));
        return text.toString();
    }

    private void add(String name, List<String> importers) throws IOException {
        if (modules.containsKey(name)) {
            return;
        }
        if (importers.contains(name)) {
            throw new IllegalArgumentException("modules must not import each other: " + importers + ", " + name);
        }
        List<String> path = new ArrayList<>(importers);
        path.add(name);
        String text = source.read(name);
        StringBuilder function = new StringBuilder("(() => {\n");
        Matcher head = HEAD.matcher(text);
        int end = 0;
        while (head.find()) {
            end = head.end();
            if (head.group("from") != null) {
                function.append("const ").append(target(head)).append(" = ");
                function.append(moduleOf(head.group("from"), path));
                function.append(head.group("one") == null ? "" : ".default").append(";\n");
            }
        }
        List<String> exports = new ArrayList<>();
        Matcher export = EXPORT.matcher(text).useTransparentBounds(true).useAnchoringBounds(false);
        for (int at = text.indexOf("export", end); at >= 0; at = text.indexOf("export", Math.max(at + 1, end))) {
            if (export.region(at, text.length()).lookingAt()) {
                function.append(text, end, at).append(replacement(export, path, exports));
                end = export.end();
            }
        }
        function.append(text, end, text.length());
        if (LEFT_OVER.stream().anyMatch(form -> function.indexOf(form) >= 0)) {
            throw new IllegalArgumentException(
                    "the module " + name + " has an import or export that is not understood");
        }
        function.append("\nreturn { ").append(String.join(", ", exports)).append(" };\n})()");
        modules.put(name, function.toString());
    }

    private static String target(Matcher head) {
        String names = head.group("names");
        return names == null
                ? head.group("all") == null ? head.group("one") : head.group("all")
                : names.replaceAll("\\s+as\\s+", ": ");
    }

    /** Adds a module that another imports, and returns the expression for it. */
    private String moduleOf(String path, List<String> importers) throws IOException {
        String importer = importers.getLast();
        String name = importer.substring(0, importer.lastIndexOf('/') + 1) + path.replaceFirst("^\\./", "");
        add(name, importers);
        return "modules['" + name + "']";
    }

    /** Returns the code for an export, and adds the names that it exports as properties. */
    private String replacement(Matcher export, List<String> path, List<String> exports) throws IOException {
        if (export.group("default") != null) {
            exports.add("default: exported");
            return "const exported = ";
        }
        if (export.group("declared") != null) {
            exports.add(export.group("name"));
            return export.group("declared");
        }
        String from = export.group("from") == null ? "" : moduleOf(export.group("from"), path) + ".";
        for (String each : export.group("names").split(",", -1)) {
            String[] local = each.strip().split("\\s+as\\s+", 2);
            exports.add(local[local.length - 1] + ": " + from + local[0]);
        }
        return "";
    }
}
