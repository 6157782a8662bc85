package dev.raddle.cli.file.template;

import dev.raddle.cli.file.template.Condition.Comparison;
import dev.raddle.cli.file.template.Condition.InvalidConditionException;
import dev.raddle.cli.file.value.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses one {@link Condition}. For one thread and one use. */
final class ConditionParser {
    private static final Pattern TOKEN =
            Pattern.compile("\\s*(?:(?<placeholder>\\$\\{[^}]*\\})|(?<quoted>'[^']*'|\"[^\"]*\")"
                    + "|(?<sign>==|!=|\\(|\\))|(?<word>[^\\s()'\"=!$]+))");
    private static final Set<String> RESERVED = Set.of("and", "or", "not", "contains", "(", ")", "==", "!=");
    private static final int MAX_DEPTH = 100;

    private record Token(int index, String text, boolean isValue) {}

    private final String text;
    private final List<Token> tokens = new ArrayList<>();
    private int next;
    private int depth;

    ConditionParser(String text) {
        this.text = text;
    }

    Condition parse() throws InvalidConditionException {
        split();
        Condition condition = either();
        if (next < tokens.size()) {
            Token rest = tokens.get(next);
            throw wrong(rest.index, "must continue with and or or");
        }
        return condition;
    }

    private void split() throws InvalidConditionException {
        Matcher matcher = TOKEN.matcher(text);
        int end = 0;
        while (end < text.stripTrailing().length()) {
            if (!matcher.find(end) || matcher.start() != end) {
                int at = end
                        + text.substring(end).length()
                        - text.substring(end).stripLeading().length();
                throw wrong(at, "must be made of ${…}, texts in quotes, words, ==, !=, contains, and, or, not");
            }
            end = matcher.end();
            tokens.add(token(matcher));
        }
    }

    private static Token token(Matcher matcher) {
        String quoted = matcher.group("quoted");
        if (quoted != null) {
            return new Token(matcher.start("quoted"), quoted.substring(1, quoted.length() - 1), true);
        }
        for (String kind : List.of("placeholder", "sign", "word")) {
            String found = matcher.group(kind);
            if (found != null) {
                return new Token(matcher.start(kind), found, !RESERVED.contains(found));
            }
        }
        throw new IllegalStateException("a token is of one kind");
    }

    private Condition either() throws InvalidConditionException {
        List<Condition> parts = new ArrayList<>(List.of(all()));
        while (accept("or")) {
            parts.add(all());
        }
        return parts.size() == 1 ? parts.getFirst() : new Condition.Several(parts, false);
    }

    private Condition all() throws InvalidConditionException {
        List<Condition> parts = new ArrayList<>(List.of(single()));
        while (accept("and")) {
            parts.add(single());
        }
        return parts.size() == 1 ? parts.getFirst() : new Condition.Several(parts, true);
    }

    private Condition single() throws InvalidConditionException {
        if (++depth > MAX_DEPTH) {
            throw wrong(position(), "must not be nested more than " + MAX_DEPTH + " deep");
        }
        Condition condition;
        if (accept("not")) {
            condition = new Condition.Not(single());
        } else if (accept("(")) {
            condition = either();
            if (!accept(")")) {
                throw wrong(position(), "must close the parenthesis with )");
            }
        } else {
            condition = comparison();
        }
        depth--;
        return condition;
    }

    private Condition comparison() throws InvalidConditionException {
        Template left = value();
        for (Comparison comparison : Comparison.values()) {
            if (accept(comparison.word())) {
                return new Condition.Compare(left, comparison, value());
            }
        }
        throw wrong(position(), "must compare a value by ==, != or contains");
    }

    private Template value() throws InvalidConditionException {
        if (next == tokens.size() || !tokens.get(next).isValue) {
            throw wrong(position(), "must have a value: ${…}, a text in quotes or a word");
        }
        Token token = tokens.get(next++);
        boolean placeholder = token.text.startsWith("${") && text.startsWith("${", token.index);
        try {
            return placeholder ? Template.parse(token.text, Syntax.ROWS) : Template.literal(token.text);
        } catch (IllegalArgumentException e) {
            throw wrong(token.index, String.valueOf(e.getMessage()));
        }
    }

    private boolean accept(String word) {
        if (next < tokens.size()
                && !tokens.get(next).isValue
                && tokens.get(next).text.equals(word)) {
            next++;
            return true;
        }
        return false;
    }

    private int position() {
        return next < tokens.size() ? tokens.get(next).index : text.length();
    }

    private InvalidConditionException wrong(int index, String rule) {
        String found = index >= text.length() ? "nothing more" : "\"" + Values.shortened(text.substring(index)) + "\"";
        return new InvalidConditionException(index, rule + ", was " + found);
    }
}
