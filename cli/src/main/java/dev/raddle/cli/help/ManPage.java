package dev.raddle.cli.help;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Writes the manual page of a command and of all commands below it, in the language of {@code man}. */
public final class ManPage {
    private static final String HEADING = "Exit codes:";

    private final StringBuilder page = new StringBuilder();

    private ManPage() {}

    /**
     * Returns the manual page.
     *
     * @param version the version in the page's last line
     */
    public static String of(CommandLine commandLine, String version) {
        ManPage man = new ManPage();
        List<CommandNode> nodes = CommandNode.all(commandLine);
        CommandNode main = nodes.getFirst();
        man.line(".\\\" Made by \"" + main.name() + " man\".");
        // No date: the same version prints the same page.
        man.line(".TH \"" + main.name().toUpperCase(Locale.ROOT) + "\" 1 \"\" " + quoted(version)
                + " \"User Commands\"");
        man.line(".SH NAME");
        man.line(escaped(main.name()) + " \\- " + escaped(title(main)));
        man.line(".SH SYNOPSIS");
        nodes.forEach(man::synopsis);
        man.line(".SH DESCRIPTION");
        man.line(escaped(main.description()));
        man.line(".SH OPTIONS");
        main.options().forEach(man::option);
        man.line(".SH COMMANDS");
        nodes.stream().skip(1).forEach(man::command);
        List<String> footer = main.footer();
        int codes = footer.indexOf(HEADING);
        man.section("EXAMPLES", footer.subList(0, codes < 0 ? footer.size() : codes));
        if (codes >= 0) {
            man.section("EXIT STATUS", footer.subList(codes + 1, footer.size()));
        }
        return man.page.toString();
    }

    /** Returns the first sentence of a description, as a title. */
    private static String title(CommandNode node) {
        String first = node.description().replaceFirst("\\..*", "");
        return first.substring(0, 1).toLowerCase(Locale.ROOT) + first.substring(1);
    }

    private void line(String text) {
        page.append(text).append('\n');
    }

    private void synopsis(CommandNode node) {
        line(".br");
        line(".B " + escaped(node.path()));
        line(escaped(rest(node)));
    }

    /** Returns what follows a command's name in its synopsis. */
    private static String rest(CommandNode node) {
        List<String> words = new ArrayList<>();
        words.add("[OPTIONS]");
        if (!node.children().isEmpty()) {
            words.add(node.path().contains(" ") ? "[COMMAND]" : "COMMAND");
        }
        for (PositionalParamSpec argument : node.arguments()) {
            String label = argument.paramLabel() + (argument.arity().max() > 1 ? "..." : "");
            words.add(argument.arity().min() == 0 ? "[" + label + "]" : label);
        }
        return String.join(" ", words);
    }

    private void command(CommandNode node) {
        line(".SS " + quoted(node.path() + " " + rest(node)));
        line(escaped(node.description()));
        for (PositionalParamSpec argument : node.arguments()) {
            line(".TP");
            line(".I " + escaped(argument.paramLabel()));
            line(escaped(CommandNode.description(argument)));
        }
        node.options().forEach(this::option);
        verbatim(node.footer());
    }

    private void option(OptionSpec option) {
        String names = String.join(", ", option.names());
        line(".TP");
        line(
                CommandNode.takesValue(option)
                        ? ".BI " + quoted(names + (option.longestName().startsWith("--") ? "=" : " ")) + " "
                                + quoted(option.paramLabel())
                        : ".B " + quoted(names));
        line(escaped(CommandNode.description(option)));
    }

    private void section(String heading, List<String> lines) {
        line(".SH " + quoted(heading));
        verbatim(lines);
    }

    private void verbatim(List<String> lines) {
        line(".PP");
        line(".nf");
        for (String text : Ansi.OFF.string(String.join("\n", lines)).strip().split("\n", -1)) {
            line(escaped(text));
        }
        line(".fi");
    }

    private static String quoted(String text) {
        return "\"" + escaped(text).replace("\"", "\\(dq") + "\"";
    }

    /** Returns a text in which no character has a meaning for the formatter. */
    private static String escaped(String text) {
        String escaped = text.replace("\\", "\\e").replace("-", "\\-");
        return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
    }
}
