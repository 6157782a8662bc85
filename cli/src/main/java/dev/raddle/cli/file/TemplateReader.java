package dev.raddle.cli.file;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads the values of a task that may contain placeholders, which only a task with {@code forEach} has. */
final class TemplateReader {
    private final Problems problems;
    private final Values values;
    private final boolean forEach;

    TemplateReader(Problems problems, boolean forEach) {
        this.problems = problems;
        this.values = new Values(problems);
        this.forEach = forEach;
    }

    @Nullable
    Located<Template> nonEmpty(@Nullable Node node, String what) {
        String text = node == null ? null : values.nonEmptyText(node, what);
        return node == null || text == null ? null : template(node, what, text);
    }

    @Nullable
    Located<Template> text(Node node, String what) {
        String text = values.text(node, what);
        return text == null ? null : template(node, what, text);
    }

    private @Nullable Located<Template> template(Node node, String what, String text) {
        Location at = Location.of(node);
        try {
            Template template = Template.parse(text, false);
            Set<String> names = template.names();
            if (!forEach && !names.isEmpty()) {
                problems.add(
                        at,
                        what + " has the placeholder ${"
                                + Printable.oneLine(names.iterator().next())
                                + "}, but only a task with forEach has values; write $${ for the characters ${");
                return null;
            }
            return new Located<>(template, what, at);
        } catch (IllegalArgumentException e) {
            problems.add(at, what + " " + e.getMessage());
            return null;
        }
    }

    @Nullable
    Located<CommandTemplate> command(@Nullable Node node) {
        return switch (node) {
            case null -> null;
            case ScalarNode scalar -> script(scalar);
            case SequenceNode sequence -> words(sequence);
            default -> {
                values.wrong(node, "run must be a text (for the shell) or a list (a program and its arguments)");
                yield null;
            }
        };
    }

    private @Nullable Located<CommandTemplate> script(Node node) {
        String script = values.nonEmptyText(node, "run");
        if (script == null) {
            return null;
        }
        Location at = Location.of(node);
        if (!forEach) {
            return new Located<>(new CommandTemplate.Verbatim(script), "run", at);
        }
        try {
            return new Located<>(new CommandTemplate.Script(ShellTemplate.parse(script, false)), "run", at);
        } catch (IllegalArgumentException e) {
            problems.add(at, "run " + e.getMessage());
            return null;
        }
    }

    private @Nullable Located<CommandTemplate> words(SequenceNode sequence) {
        Location at = Location.of(sequence);
        List<Node> items = sequence.getValue().stream().map(Documents::plain).toList();
        if (items.isEmpty()) {
            problems.add(at, "run must name at least a program, was an empty list");
            return null;
        }
        List<String> texts = new ArrayList<>();
        List<Template> templates = new ArrayList<>();
        for (Node item : items) {
            String text = texts.isEmpty()
                    ? values.nonEmptyText(item, "the program to run")
                    : values.text(item, "an argument of run");
            if (text == null) {
                return null;
            }
            texts.add(text);
            if (forEach) {
                Located<Template> template = template(item, "run", text);
                if (template == null) {
                    return null;
                }
                templates.add(template.value());
            }
        }
        return new Located<>(
                forEach ? new CommandTemplate.Words(templates) : new CommandTemplate.Plain(texts), "run", at);
    }
}
