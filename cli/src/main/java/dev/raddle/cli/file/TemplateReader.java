package dev.raddle.cli.file;

import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.file.template.Condition;
import dev.raddle.cli.file.template.Reference;
import dev.raddle.cli.file.template.ShellTemplate;
import dev.raddle.cli.file.template.Syntax;
import dev.raddle.cli.file.template.Template;
import dev.raddle.cli.file.value.Documents;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Reads the values of a task that may contain placeholders. Only a task with {@code forEach} has values of its own;
 * params and values of upstream tasks are allowed in every task.
 */
final class TemplateReader {
    private final Problems problems;
    private final Values values;
    private final @Nullable Set<String> columns; // null without forEach
    private final Params params;

    TemplateReader(Problems problems, @Nullable Set<String> columns, Params params) {
        this.problems = problems;
        this.values = new Values(problems);
        this.columns = columns;
        this.params = params;
    }

    @Nullable
    Located<Template> nonEmpty(@Nullable Node node, String what) {
        String text = node == null ? null : values.nonEmptyText(node, what);
        return node == null || text == null ? null : template(node, what, text, false, Syntax.ROWS);
    }

    /** Returns a text that must be known before anything runs. */
    @Nullable
    Located<Template> early(@Nullable Node node, String what) {
        String text = node == null ? null : values.text(node, what);
        return node == null || text == null ? null : template(node, what, text, false, Syntax.ROWS);
    }

    @Nullable
    Located<Template> text(Node node, String what) {
        String text = values.text(node, what);
        return text == null ? null : template(node, what, text, true, Syntax.ROWS);
    }

    private @Nullable Located<Template> template(
            Node node, String what, String text, boolean deferrable, Syntax syntax) {
        return parsed(node, what, deferrable, () -> Template.parse(text, syntax), Template::names);
    }

    private <T> @Nullable Located<T> parsed(
            Node node, String what, boolean deferrable, Supplier<T> parsing, Function<T, Set<String>> names) {
        Location at = Location.of(node);
        try {
            T template = parsing.get();
            return checkPlaceholders(names.apply(template), what, at, deferrable)
                    ? new Located<>(template, what, at)
                    : null;
        } catch (IllegalArgumentException e) {
            addInvalid(at, what + " " + e.getMessage());
            return null;
        }
    }

    private void addInvalid(Location at, String text) {
        params.markIncomplete();
        problems.add(at, text);
    }

    /** Checks that these placeholders are allowed at a location, and records the use of params among them. */
    private boolean checkPlaceholders(Set<String> names, String what, Location at, boolean deferrable) {
        int before = problems.count();
        for (String name : names) {
            Reference reference = isColumn(name) ? null : Reference.of(name).orElse(null);
            if (reference == null && columns == null) {
                problems.add(
                        at,
                        what + " has the placeholder ${"
                                + Printable.oneLine(name)
                                + "}, but only a task with forEach has values; write $${ for the characters ${");
                return false;
            } else if (reference != null && reference.isParam()) {
                params.use(reference, what, at);
            } else if (reference != null && !deferrable) {
                problems.add(
                        at,
                        what + " has the placeholder ${" + Printable.oneLine(name)
                                + "}, whose value is known only when that task has run; such placeholders belong in"
                                + " run, env, when, fallback and undo");
            }
        }
        return problems.count() == before;
    }

    private boolean isColumn(String name) {
        return columns != null && columns.contains(name);
    }

    @Nullable
    Located<Condition> condition(@Nullable Node node) {
        String text = node == null ? null : values.nonEmptyText(node, "when");
        if (node == null || text == null) {
            return null;
        }
        try {
            Condition condition = Condition.parse(text);
            Location at = Location.of(node);
            return checkPlaceholders(condition.names(), "when", at, true) ? new Located<>(condition, "when", at) : null;
        } catch (Condition.InvalidConditionException e) {
            addInvalid(within(node, text, e.index()), "when " + e.getMessage());
            return null;
        }
    }

    /** Returns a location inside a text, as exactly as the start of the text allows. */
    private static Location within(Node node, String text, int index) {
        Location start = Location.of(node);
        ScalarStyle style = ((ScalarNode) node).getScalarStyle();
        int quotes = style == ScalarStyle.PLAIN ? 0 : 1;
        boolean asWritten = node.getEndMark()
                .filter(end -> end.getLine() + 1 == start.line()
                        && end.getColumn() + 1 - start.column() == text.length() + 2 * quotes)
                .isPresent();
        return asWritten ? new Location(start.file(), start.line(), start.column() + quotes + index) : start;
    }

    @Nullable
    Located<CommandTemplate> command(@Nullable Node node, String what) {
        return switch (node) {
            case null -> null;
            case ScalarNode scalar -> script(scalar, what);
            case SequenceNode sequence -> words(sequence, what);
            default -> {
                values.wrong(node, what + " must be a text (for the shell) or a list (a program and its arguments)");
                yield null;
            }
        };
    }

    private @Nullable Located<CommandTemplate> script(Node node, String what) {
        String script = values.nonEmptyText(node, what);
        return script == null
                ? null
                : parsed(node, what, true, () -> ShellTemplate.parse(script, syntax()), CommandTemplate::names);
    }

    private Syntax syntax() {
        return columns == null ? Syntax.REFERENCES : Syntax.ROWS;
    }

    private @Nullable Located<CommandTemplate> words(SequenceNode sequence, String what) {
        Location at = Location.of(sequence);
        List<Node> items = sequence.getValue().stream().map(Documents::plain).toList();
        if (items.isEmpty()) {
            problems.add(at, what + " must name at least a program, was an empty list");
            return null;
        }
        List<Template> templates = new ArrayList<>();
        for (Node item : items) {
            String text = templates.isEmpty()
                    ? values.nonEmptyText(item, what.equals("run") ? "the program to run" : "the program of " + what)
                    : values.text(item, "an argument of " + what);
            Located<Template> template = text == null ? null : template(item, what, text, true, syntax());
            if (template == null) {
                return null;
            }
            templates.add(template.value());
        }
        return new Located<>(new CommandTemplate.Words(templates), what, at);
    }
}
