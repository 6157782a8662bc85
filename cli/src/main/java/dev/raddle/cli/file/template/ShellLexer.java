package dev.raddle.cli.file.template;

import dev.raddle.cli.file.template.ShellTemplate.Quotes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Scans a shell script and determines at each character what surrounds it: quotes, a substitution, a comment, or a
 * command that evaluates its arguments. It implements as much of the POSIX grammar as that needs; where shells parse a
 * script in different ways, it reports a doubt. For one thread.
 */
final class ShellLexer implements Parts.Lexer {
    private enum Kind {
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

    /** Commands that execute their arguments as code, at once or later. */
    private static final Set<String> EVALUATING = Set.of("eval", "trap", "alias", "let");

    /** Words after which a command may begin. */
    private static final Set<String> RESERVED =
            Set.of("if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "time", "esac");

    private static final Pattern ASSIGNMENT = Pattern.compile("[A-Za-z_][A-Za-z_0-9]*\\+?=.*", Pattern.DOTALL);

    private final String script;
    private final Syntax syntax;
    private final Deque<Frame> frames = new ArrayDeque<>();
    private int index;
    private boolean hereDocument;
    private @Nullable String doubt; // the construct that it cannot judge; null if there is none

    ShellLexer(String script, Syntax syntax) {
        this.script = script;
        this.syntax = syntax;
        frames.push(new Frame(Kind.COMMAND));
    }

    /** The position inside a clause of {@code case}. */
    private enum Clause {
        SUBJECT,
        IN,
        PATTERN,
        BODY
    }

    /** A construct that has begun and not ended. For commands, also the position within a simple command. */
    private static final class Frame {
        private final Kind kind;
        private final StringBuilder word = new StringBuilder(); // without its quotes
        private boolean inWord;
        private boolean plain = true; // nothing of the word is quoted or expanded
        private boolean atCommand = true; // the next word may be a command or a reserved word
        private boolean afterRedirection; // the next word is a file
        private @Nullable String evaluating; // the word of this command that makes its arguments code
        private final Deque<Clause> cases = new ArrayDeque<>();

        Frame(Kind kind) {
            this.kind = kind;
        }

        boolean isIn(Clause clause) {
            return cases.peek() == clause;
        }

        void setClause(Clause clause) {
            cases.pop();
            cases.push(clause);
        }

        void add(char c) {
            inWord = true;
            word.append(c);
        }

        void addHidden() {
            inWord = true;
            plain = false;
        }

        void beginCommand() {
            atCommand = true;
            afterRedirection = false;
            evaluating = null;
        }
    }

    @Override
    public boolean atEnd() {
        return index >= script.length();
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public void skipTo(int to) {
        index = to;
        word().addHidden();
    }

    @Override
    public String next() {
        if (syntax.isEscaped(script, index)) {
            if (top() != Kind.SINGLE && top() != Kind.COMMENT) {
                word().addHidden();
                frames.push(new Frame(Kind.EXPANSION));
            }
            index += Placeholder.ESCAPED.length();
            return "${";
        }
        int from = index;
        index += step();
        return script.substring(from, Math.min(index, script.length()));
    }

    /** Returns the innermost command; constructs inside its current word belong to that word. */
    private Frame word() {
        for (Frame frame : frames) {
            if (frame.kind == Kind.COMMAND) {
                return frame;
            }
        }
        throw new IllegalStateException("a script is a command");
    }

    private int step() {
        char c = script.charAt(index);
        return switch (top()) {
            case SINGLE -> quoted(c == '\'', c);
            case COMMENT -> comment(c);
            case BACKTICKS -> c == '\\' ? 2 : closing(c == '`');
            case DOUBLE -> c == '"' ? closing(true) : inDouble(c);
            case OLD_ARITHMETIC -> c == ']' ? closing(true) : substitution(c);
            case ARITHMETIC -> arithmetic(c);
            case PARENTHESIS -> c == ')' ? closing(true) : arithmetic(c);
            case EXPANSION -> expansion(c);
            case COMMAND -> command(c, frames.getFirst());
        };
    }

    private int closing(boolean closes) {
        if (closes) {
            frames.pop();
        }
        return 1;
    }

    private int quoted(boolean closes, char c) {
        closing(closes);
        if (!closes && top() == Kind.SINGLE) {
            word().add(c);
        }
        return 1;
    }

    private int comment(char c) {
        if (c == '\n') {
            frames.pop();
            return command(c, frames.getFirst());
        }
        return 1;
    }

    private int inDouble(char c) {
        if (c != '$' && c != '`' && c != '\\') {
            word().add(c);
        }
        return substitution(c);
    }

    /** Handles the constructs that begin even inside double quotes. */
    private int substitution(char c) {
        if (c == '\\') {
            return 2;
        }
        if (c == '`') {
            return opening(Kind.BACKTICKS, 1);
        }
        if (script.startsWith("${", index)) {
            return opening(Kind.EXPANSION, 2); // the shell's own expansion: skipTo() skips placeholders
        }
        if (script.startsWith("$((", index)) {
            return opening(Kind.ARITHMETIC, 3);
        }
        if (script.startsWith("$[", index)) {
            return opening(Kind.OLD_ARITHMETIC, 2);
        }
        return script.startsWith("$(", index) ? opening(Kind.COMMAND, 2) : 1;
    }

    private int arithmetic(char c) {
        if (c == '(') {
            return opening(Kind.PARENTHESIS, 1);
        }
        if (top() == Kind.ARITHMETIC && script.startsWith("))", index)) {
            frames.pop();
            return 2;
        }
        if (c == '\'' || c == ')') {
            doubt("arithmetic that may be a subshell");
        }
        return c == '"' ? opening(Kind.DOUBLE, 1) : substitution(c);
    }

    private int expansion(char c) {
        if (c == '}') {
            return closing(true);
        }
        if (c == '"') {
            return opening(Kind.DOUBLE, 1);
        }
        if (c == '\'' && isInDoubleQuotes()) {
            doubt("a single quote inside \"${…}\"");
        }
        return c == '\'' && !isInDoubleQuotes() ? opening(Kind.SINGLE, 1) : substitution(c);
    }

    private void doubt(String what) {
        doubt = doubt == null ? what : doubt;
    }

    private int command(char c, Frame frame) {
        return switch (c) {
            case '\'' -> opening(Kind.SINGLE, 1);
            case '"' -> opening(Kind.DOUBLE, 1);
            case ' ', '\t' -> blank(frame);
            case '\n', '&', '|' -> separator(frame);
            case ';' -> semicolon(frame);
            case '(' -> parenthesis(frame);
            case ')' -> closingParenthesis(frame);
            case '#' -> frame.inWord ? literal(c, frame) : opening(Kind.COMMENT, 1);
            case '<', '>' -> redirection(c, frame);
            case '\\' -> escape(frame);
            case '$' -> dollar(frame);
            case '`' -> substitution(c);
            default -> literal(c, frame);
        };
    }

    private static int literal(char c, Frame frame) {
        frame.add(c);
        return 1;
    }

    private int blank(Frame frame) {
        endWord(frame);
        return 1;
    }

    private int separator(Frame frame) {
        endWord(frame);
        frame.beginCommand();
        return 1;
    }

    private int semicolon(Frame frame) {
        separator(frame);
        int length = 1;
        while (script.startsWith(";", index + length) || script.startsWith("&", index + length)) {
            length++;
        }
        if (length > 1 && frame.isIn(Clause.BODY)) {
            frame.setClause(Clause.PATTERN);
        }
        return length;
    }

    private int parenthesis(Frame frame) {
        boolean begins = !frame.inWord;
        endWord(frame);
        if (frame.isIn(Clause.PATTERN)) {
            if (!begins) {
                doubt("a parenthesis inside the pattern of a case");
            }
            return 1;
        }
        frame.beginCommand();
        return script.startsWith("((", index) ? opening(Kind.ARITHMETIC, 2) : opening(Kind.COMMAND, 1);
    }

    private int closingParenthesis(Frame frame) {
        boolean ends = frame.plain && frame.word.toString().equals("esac");
        if (frame.isIn(Clause.PATTERN) && !ends) {
            clear(frame);
            frame.setClause(Clause.BODY);
            frame.beginCommand();
            return 1;
        }
        endWord(frame);
        if (!frame.cases.isEmpty()) {
            doubt("a parenthesis inside a case");
        }
        if (frames.size() == 1) {
            doubt("a parenthesis that was not opened");
            return 1;
        }
        frames.pop();
        if (top() == Kind.COMMAND) {
            word().atCommand = !word().inWord;
        }
        return 1;
    }

    private int redirection(char c, Frame frame) {
        if (frame.inWord && frame.plain && frame.word.chars().allMatch(Character::isDigit)) {
            clear(frame);
        } else {
            endWord(frame);
        }
        int length = 1;
        while (c == '<' && script.startsWith("<", index + length)) {
            length++;
        }
        hereDocument |= length == 2;
        if (length == 1 && index + 1 < script.length() && "&|>".indexOf(script.charAt(index + 1)) >= 0) {
            length++;
        }
        if (script.startsWith("(", index + length)) {
            frame.inWord = true; // bash's process substitution <(…) is a word
            frame.plain = false;
            return opening(Kind.COMMAND, length + 1);
        }
        frame.afterRedirection = true;
        return length;
    }

    private int escape(Frame frame) {
        if (index + 1 < script.length() && script.charAt(index + 1) != '\n') {
            frame.addHidden();
            frame.word.append(script.charAt(index + 1));
        }
        return 2;
    }

    private int dollar(Frame frame) {
        if (script.startsWith("$\"", index)) {
            return opening(Kind.DOUBLE, 2);
        }
        if (script.startsWith("$'", index)) {
            int end = script.indexOf('\'', index + 2);
            if (end < 0 || script.substring(index + 2, end).contains("\\")) {
                doubt("$'…' with a backslash");
            }
            return opening(Kind.SINGLE, 2);
        }
        frame.addHidden();
        return substitution('$');
    }

    private int opening(Kind kind, int length) {
        if (kind != Kind.COMMENT && top() == Kind.COMMAND && kind != Kind.COMMAND) {
            word().addHidden();
        }
        frames.push(new Frame(kind));
        return length;
    }

    private static void clear(Frame frame) {
        frame.word.setLength(0);
        frame.inWord = false;
        frame.plain = true;
    }

    /** Updates the state of a command at the end of a word. */
    private static void endWord(Frame frame) {
        if (!frame.inWord) {
            return;
        }
        String word = frame.word.toString();
        boolean plain = frame.plain;
        clear(frame);
        if (frame.afterRedirection) {
            frame.afterRedirection = false;
        } else if (frame.isIn(Clause.SUBJECT)) {
            frame.setClause(Clause.IN);
        } else if (frame.isIn(Clause.IN)) {
            if (plain && word.equals("in")) {
                frame.setClause(Clause.PATTERN);
            }
        } else if (frame.isIn(Clause.PATTERN)) {
            if (plain && word.equals("esac")) {
                frame.cases.pop();
                frame.beginCommand();
            }
        } else {
            endCommandWord(frame, word, plain);
        }
    }

    private static void endCommandWord(Frame frame, String word, boolean plain) {
        if (EVALUATING.contains(word)) {
            frame.evaluating = word;
        }
        if (!frame.atCommand) {
            return;
        }
        if (plain && word.equals("case")) {
            frame.cases.push(Clause.SUBJECT);
            frame.atCommand = false;
        } else if (plain && RESERVED.contains(word)) {
            if (word.equals("esac") && frame.isIn(Clause.BODY)) {
                frame.cases.pop();
            }
        } else if (!ASSIGNMENT.matcher(word).matches()) {
            frame.atCommand = false;
        }
    }

    private boolean isInDoubleQuotes() {
        for (Frame frame : frames) {
            if (frame.kind == Kind.DOUBLE) {
                return true;
            }
            if (frame.kind == Kind.COMMAND) {
                return false;
            }
        }
        return false;
    }

    private Kind top() {
        return frames.getFirst().kind;
    }

    /**
     * Checks at the end of the script that every construct has ended.
     *
     * @throws IllegalArgumentException if one has not, or the script cannot be judged; its placeholders cannot be
     *     judged then
     */
    @Override
    public void end() {
        if (hereDocument) {
            return; // the lines of a here-document are not code; a placeholder after it has been refused
        }
        if (top() == Kind.COMMENT) {
            frames.pop();
        }
        if (top() == Kind.COMMAND) {
            endWord(frames.getFirst());
        }
        if (frames.size() > 1 || !frames.getFirst().cases.isEmpty()) {
            doubt("a quote, parenthesis or case without an end");
        }
        if (doubt != null) {
            throw new IllegalArgumentException("has placeholders and " + doubt
                    + ", so its quoting is unclear; write it to a file and pass the values: sh FILE ${…}");
        }
    }

    /** Returns the quotes around a placeholder at the current position. */
    @Override
    public Quotes quotesFor(String name) {
        String placeholder = "has the placeholder ${" + name + "} ";
        if (hereDocument) {
            throw new IllegalArgumentException(
                    placeholder + "after the here-document \"<<\", where it cannot be quoted;"
                            + " use a pipe: printf '%s\\n' ${" + name + "} | …");
        }
        if (top() == Kind.COMMENT) {
            return Quotes.COMMENT;
        }
        if (top() == Kind.EXPANSION) {
            throw new IllegalArgumentException(placeholder + "inside the shell's own ${…}, where it cannot be quoted;"
                    + " assign it first: value=${" + name + "}");
        }
        if (top() == Kind.SINGLE) {
            throw new IllegalArgumentException(placeholder
                    + "inside single quotes, which a shell does not expand and which may contain code for later;"
                    + " use double quotes, or pass it as an argument: sh -c '… \"$1\" …' sh ${" + name + "}");
        }
        boolean command = false;
        for (Frame frame : frames) {
            if (!command) {
                refuseWhereNotQuotable(frame.kind, placeholder);
            }
            command |= frame.kind == Kind.COMMAND;
            if (frame.evaluating != null) {
                throw new IllegalArgumentException(placeholder + "after \"" + frame.evaluating
                        + "\", which runs its arguments as code; assign it first, value=${" + name
                        + "}, and write '\"$value\"' there");
            }
        }
        return top() == Kind.DOUBLE ? Quotes.DOUBLE : Quotes.NONE;
    }

    private static void refuseWhereNotQuotable(Kind kind, String placeholder) {
        switch (kind) {
            case BACKTICKS ->
                throw new IllegalArgumentException(
                        placeholder + "inside `…`, where it cannot be quoted; use $(…) instead");
            case ARITHMETIC, OLD_ARITHMETIC, PARENTHESIS ->
                throw new IllegalArgumentException(placeholder + "inside arithmetic, where a shell may run code"
                        + " contained in a value; use expr, or check the value first");
            default -> {}
        }
    }
}
