package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A script for {@code sh -c} with placeholders, into which a line of data can be inserted without ever becoming code.
 */
public final class ShellTemplate implements CommandTemplate {
    /** The prefix of the environment variables that carry values; a run file must not set them. */
    public static final String VARIABLE = "RADDLE_VALUE_";

    /*
     * Overview.
     *
     * No value is ever written into the script. A value is passed in an environment variable, and the placeholder
     * becomes a reference to that variable. A shell expands a reference after it has parsed the script and does not
     * parse the result again, so a value is never code, wherever the reference is.
     *
     * The value must also be one word, neither split nor expanded as a pattern. That must not depend on ShellLexer
     * being right about the quotes around the placeholder, so the reference is the same everywhere:
     *
     *     outside quotes       curl ${line}      ->  curl ${RADDLE_VALUE_1+"$RADDLE_VALUE_1"}
     *     inside double        echo "<${line}>"  ->  echo "<${RADDLE_VALUE_1+"$RADDLE_VALUE_1"}>"
     *
     * The inner quotes are effective in both cases, and the word inside the braces is always used, because the variable
     * is always set.
     *
     * A placeholder is refused where no such reference is possible, and where its expansion is parsed again: in single
     * quotes, backticks, arithmetic, the shell's own ${…} and here-documents, and after eval, trap, alias and let. A
     * script in which ShellLexer cannot determine those locations is refused as a whole.
     */
    private final Parts parts;

    private ShellTemplate(Parts parts) {
        this.parts = parts;
    }

    /**
     * Parses a script.
     *
     * @throws IllegalArgumentException if a placeholder is invalid or at a location where it cannot be made safe; the
     *     message continues a sentence that begins with the name of the value
     */
    public static ShellTemplate parse(String script, Syntax syntax) {
        return new ShellTemplate(Parts.parse(script, syntax, new ShellLexer(script, syntax)));
    }

    @Override
    public Set<String> names() {
        return parts.names();
    }

    @Override
    public String toString() {
        return parts.toString();
    }

    @Override
    public Command fill(Row row) throws InvalidRowException {
        Map<String, String> variables = new LinkedHashMap<>(); // by value
        StringBuilder script = new StringBuilder();
        StringBuilder shown = new StringBuilder();
        for (Parts.Part part : parts.list()) {
            switch (part) {
                case Parts.Literal literal -> {
                    script.append(literal.text());
                    shown.append(literal.text());
                }
                case Parts.Value value -> {
                    boolean quoted = value.quotes() == Quotes.NONE && isInWord(script);
                    String separator = "";
                    for (Row each : row.each(Set.of(value.name()))) {
                        String text = each.value(value.name());
                        String variable = variables.computeIfAbsent(text, key -> VARIABLE + (variables.size() + 1));
                        script.append(separator).append(value.quotes().reference(variable));
                        shown.append(separator).append(value.quotes().literal(text));
                        separator = quoted ? "\" \"" : " ";
                    }
                }
            }
        }
        Map<String, String> values = new LinkedHashMap<>();
        variables.forEach((text, variable) -> values.put(variable, text));
        return new Command(List.of("sh", "-c", script.toString()), values, shown.toString());
    }

    /** Several values stay one word where a word has begun: after x= the second would be the name of a program. */
    private static boolean isInWord(StringBuilder script) {
        return !script.isEmpty() && !Character.isWhitespace(script.charAt(script.length() - 1));
    }

    /** The quotes around a placeholder. */
    enum Quotes {
        NONE {
            @Override
            String literal(String text) {
                return ShellQuote.word(text);
            }
        },
        DOUBLE {
            @Override
            String literal(String text) {
                return ShellQuote.insideDouble(text);
            }
        },
        /** A comment rather than quotes: a line break in the value would end it where the command is shown. */
        COMMENT {
            @Override
            String reference(String variable) {
                return "";
            }

            @Override
            String literal(String text) {
                return "";
            }
        };

        String reference(String variable) {
            return "${" + variable + "+\"$" + variable + "\"}";
        }

        abstract String literal(String text);
    }
}
