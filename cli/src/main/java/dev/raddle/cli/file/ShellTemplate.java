package dev.raddle.cli.file;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A shell script with placeholders, into which a line of data can be put without ever becoming code.
 */
public final class ShellTemplate {
    /** Environment variables with this prefix carry values; a run file must not set them. */
    public static final String VARIABLE = "RADDLE_VALUE_";

    /*
     * Overview.
     *
     * No value is ever written into the script. A value travels in an environment variable, and the placeholder becomes
     * a reference to that variable. A shell expands a reference after it has parsed the script and does not parse the result
     * again, so a value is no code wherever the reference stands.
     *
     * That the value is also one word, neither split nor taken for a pattern, must not depend on ShellLexer being right about
     * the quotes around the placeholder. So the reference is the same everywhere:
     *
     *   outside quotes       curl ${line}      ->  curl ${RADDLE_VALUE_1+"$RADDLE_VALUE_1"}
     *   inside double        echo "<${line}>"  ->  echo "<${RADDLE_VALUE_1+"$RADDLE_VALUE_1"}>"
     *
     * The inner quotes hold in both places, and the word inside the braces is always taken, as the variable is always set.
     *
     * A placeholder is refused where there is no such reference, and where what it becomes is parsed again: in single quotes,
     * backticks, arithmetic, the shell's own ${…} and here-documents, and after eval, trap, alias and let. A script in which
     * ShellLexer cannot tell those places is refused as a whole.
     */
    private final List<Part> parts;

    private ShellTemplate(List<Part> parts) {
        this.parts = parts;
    }

    /**
     * Reads a script.
     *
     * @param braces whether <code>{}</code> stands for the line, as in GNU parallel
     * @throws IllegalArgumentException if a placeholder is broken or stands where it cannot be made safe; the message
     *     continues a sentence that began with the name of the value
     */
    public static ShellTemplate parse(String script, boolean braces) {
        return parse(script, Syntax.braces(braces));
    }

    static ShellTemplate parse(String script, Syntax syntax) {
        List<Part> parts = new ArrayList<>();
        ShellLexer lexer = new ShellLexer(script, syntax);
        StringBuilder literal = new StringBuilder();
        while (!lexer.atEnd()) {
            Placeholder found = syntax.at(script, lexer.index());
            if (found != null) {
                parts.add(new Literal(literal.toString()));
                parts.add(new Value(found.name(), lexer.quotesFor(found.name())));
                literal.setLength(0);
                lexer.jump(found.end());
            } else {
                literal.append(lexer.next());
            }
        }
        parts.add(new Literal(literal.toString()));
        if (parts.size() > 1) {
            lexer.end();
        }
        return new ShellTemplate(parts);
    }

    public Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (Part part : parts) {
            if (part instanceof Value value) {
                names.add(value.name);
            }
        }
        return names;
    }

    Command fill(Row row) throws UnfitRowException {
        Map<String, String> variables = new LinkedHashMap<>();
        Map<String, String> values = new LinkedHashMap<>();
        StringBuilder script = new StringBuilder();
        StringBuilder shown = new StringBuilder();
        for (Part part : parts) {
            switch (part) {
                case Literal literal -> {
                    script.append(literal.text);
                    shown.append(literal.text);
                }
                case Value value -> {
                    String variable = variables.computeIfAbsent(value.name, name -> VARIABLE + (variables.size() + 1));
                    String text = row.value(value.name);
                    values.put(variable, text);
                    script.append(value.quotes.reference(variable));
                    shown.append(value.quotes.literal(text));
                }
            }
        }
        return new Command(List.of("sh", "-c", script.toString()), values, shown.toString());
    }

    private sealed interface Part {}

    private record Literal(String text) implements Part {}

    private record Value(String name, Quotes quotes) implements Part {}

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
        /** Not quotes, but a comment: a line break in the value would end it where the command is shown. */
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
