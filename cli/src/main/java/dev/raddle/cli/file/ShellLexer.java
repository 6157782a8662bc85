package dev.raddle.cli.file;

import dev.raddle.cli.file.ShellTemplate.Quotes;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Walks through a shell script and knows at each character what surrounds it: quotes, a substitution, a comment. It
 * knows as much of the POSIX grammar as quoting needs. For one thread.
 */
final class ShellLexer {
    private enum Frame {
        COMMAND,
        SINGLE,
        DOUBLE,
        BACKTICKS,
        ARITHMETIC,
        OLD_ARITHMETIC,
        PARENTHESIS,
        EXPANSION,
        COMMENT
    }

    private final String script;
    private final Syntax syntax;
    private final Deque<Frame> frames = new ArrayDeque<>();
    private int index;
    private boolean hereDocument;

    ShellLexer(String script, Syntax syntax) {
        this.script = script;
        this.syntax = syntax;
        frames.push(Frame.COMMAND);
    }

    boolean atEnd() {
        return index >= script.length();
    }

    int index() {
        return index;
    }

    void jump(int to) {
        index = to;
    }

    /** Steps over the next character, or the next few that belong together, and returns the script's text for them. */
    String next() {
        if (syntax.isEscaped(script, index)) {
            if (top() != Frame.SINGLE && top() != Frame.COMMENT) {
                frames.push(Frame.EXPANSION);
            }
            index += Placeholder.ESCAPED.length();
            return "${";
        }
        int from = index;
        index += step();
        return script.substring(from, Math.min(index, script.length()));
    }

    private int step() {
        char c = script.charAt(index);
        return switch (top()) {
            case SINGLE -> closing(c == '\'');
            case COMMENT -> closing(c == '\n');
            case BACKTICKS -> c == '\\' ? 2 : closing(c == '`');
            case DOUBLE -> c == '"' ? closing(true) : substitution(c);
            case OLD_ARITHMETIC -> c == ']' ? closing(true) : substitution(c);
            case ARITHMETIC -> arithmetic(c);
            case PARENTHESIS -> c == ')' ? closing(true) : arithmetic(c);
            case EXPANSION -> expansion(c);
            case COMMAND -> command(c);
        };
    }

    private int closing(boolean closes) {
        if (closes) {
            frames.pop();
        }
        return 1;
    }

    /** What begins anew even inside double quotes. */
    private int substitution(char c) {
        if (c == '\\') {
            return 2;
        }
        if (c == '`') {
            return opening(Frame.BACKTICKS, 1);
        }
        if (script.startsWith("${", index)) {
            return opening(Frame.EXPANSION, 2); // the shell's own: a placeholder is never stepped over
        }
        if (script.startsWith("$((", index)) {
            return opening(Frame.ARITHMETIC, 3);
        }
        if (script.startsWith("$[", index)) {
            return opening(Frame.OLD_ARITHMETIC, 2);
        }
        return script.startsWith("$(", index) ? opening(Frame.COMMAND, 2) : 1;
    }

    private int arithmetic(char c) {
        if (c == '(') {
            return opening(Frame.PARENTHESIS, 1);
        }
        if (top() == Frame.ARITHMETIC && script.startsWith("))", index)) {
            frames.pop();
            return 2;
        }
        return substitution(c);
    }

    private int expansion(char c) {
        if (c == '}') {
            return closing(true);
        }
        if (c == '"') {
            return opening(Frame.DOUBLE, 1);
        }
        return c == '\'' && !isInDoubleQuotes() ? opening(Frame.SINGLE, 1) : substitution(c);
    }

    private int command(char c) {
        return switch (c) {
            case '\'' -> opening(Frame.SINGLE, 1);
            case '"' -> opening(Frame.DOUBLE, 1);
            case '(' -> script.startsWith("((", index) ? opening(Frame.ARITHMETIC, 2) : opening(Frame.COMMAND, 1);
            case ')' -> closing(frames.size() > 1);
            case '#' -> startsWord() ? opening(Frame.COMMENT, 1) : 1;
            case '<' -> less();
            default -> substitution(c);
        };
    }

    private int less() {
        int length = 1;
        while (script.startsWith("<", index + length)) {
            length++;
        }
        hereDocument |= length == 2;
        return length;
    }

    private int opening(Frame frame, int length) {
        frames.push(frame);
        return length;
    }

    private boolean startsWord() {
        return index == 0 || " \t\n;|&()".indexOf(script.charAt(index - 1)) >= 0;
    }

    private boolean isInDoubleQuotes() {
        for (Frame frame : frames) {
            if (frame == Frame.DOUBLE) {
                return true;
            }
            if (frame == Frame.COMMAND) {
                return false;
            }
        }
        return false;
    }

    private Frame top() {
        return frames.getFirst();
    }

    /** The quotes in which a placeholder would stand here. */
    Quotes quotesFor(String name) {
        String placeholder = "has the placeholder ${" + name + "} ";
        if (hereDocument) {
            throw new IllegalArgumentException(
                    placeholder + "after the here-document \"<<\", where it cannot be quoted;"
                            + " use a pipe: printf '%s\\n' ${" + name + "} | …");
        }
        if (top() == Frame.EXPANSION) {
            throw new IllegalArgumentException(placeholder + "inside the shell's own ${…}, where it cannot be quoted;"
                    + " assign it first: value=${" + name + "}");
        }
        for (Frame frame : frames) {
            switch (frame) {
                case BACKTICKS ->
                    throw new IllegalArgumentException(
                            placeholder + "inside `…`, where it cannot be quoted; use $(…) instead");
                case ARITHMETIC, OLD_ARITHMETIC, PARENTHESIS ->
                    throw new IllegalArgumentException(
                            placeholder + "inside arithmetic, where a shell may run code that"
                                    + " stands in a value; use expr, or check the value first");
                default -> {
                    if (frame == Frame.COMMAND) {
                        return quotes();
                    }
                }
            }
        }
        return quotes();
    }

    private Quotes quotes() {
        return switch (top()) {
            case SINGLE -> Quotes.SINGLE;
            case DOUBLE -> Quotes.DOUBLE;
            default -> Quotes.NONE;
        };
    }
}
