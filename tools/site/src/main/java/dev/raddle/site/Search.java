package dev.raddle.site;

import static java.util.stream.Collectors.joining;

import java.util.Map;

/** The index of the search, as a literal of JavaScript: a page that was opened from a disk cannot read other files. */
final class Search {

    private static final int LONGEST = 20_000; // characters of a section

    private Search() {}

    /** Returns an array of arrays: the place of a section, its title and its text. */
    static String index(Map<String, Document.Section> sections) {
        return sections.entrySet().stream()
                .map(each -> "[" + quoted(each.getKey()) + ","
                        + quoted(each.getValue().title()) + ","
                        + quoted(shortened(each.getValue().text())) + "]")
                .collect(joining(",\n", "[\n", "\n]"));
    }

    private static String shortened(String text) {
        String plain = text.replaceAll("\\s+", " ").strip();
        return plain.substring(0, Math.min(LONGEST, plain.length()));
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("</", "<\\/") + '"';
    }

    /** Returns text for HTML. */
    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
