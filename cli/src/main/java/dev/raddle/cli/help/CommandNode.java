package dev.raddle.cli.help;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * A command with its options and arguments.
 *
 * @param path the names of its parents and its own, such as {@code raddle fleet set}
 */
record CommandNode(String path, CommandSpec spec) {

    /** Returns a command and all commands below it, each before those below it. */
    static List<CommandNode> all(CommandLine commandLine) {
        List<CommandNode> nodes = new ArrayList<>();
        add(new CommandNode(commandLine.getCommandName(), commandLine.getCommandSpec()), nodes);
        return nodes;
    }

    private static void add(CommandNode node, List<CommandNode> nodes) {
        nodes.add(node);
        node.children().forEach(child -> add(child, nodes));
    }

    List<CommandNode> children() {
        return spec.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(child -> !child.usageMessage().hidden())
                .map(child -> new CommandNode(path + " " + child.name(), child))
                .toList();
    }

    String name() {
        return spec.name();
    }

    List<OptionSpec> options() {
        return spec.options().stream().filter(option -> !option.hidden()).toList();
    }

    List<PositionalParamSpec> arguments() {
        return spec.positionalParameters().stream()
                .filter(argument -> !argument.hidden())
                .toList();
    }

    /** Returns whether all words from the first argument on belong to another command. */
    boolean takesCommand() {
        return arguments().stream().anyMatch(argument -> Values.of(argument) == Values.COMMAND);
    }

    String description() {
        return text(spec.usageMessage().description());
    }

    /** Returns the lines after the options, such as examples. */
    List<String> footer() {
        List<String> lines = new ArrayList<>();
        for (String line : spec.usageMessage().footer()) {
            lines.addAll(formatted(line).lines().toList());
            if (line.isEmpty()) {
                lines.add("");
            }
        }
        return lines;
    }

    static String description(ArgSpec arg) {
        return text(arg.description());
    }

    /** Returns the names of the options that cannot be combined with an option, including its own unless repeatable. */
    static List<String> excluded(OptionSpec option) {
        LinkedHashSet<String> names = new LinkedHashSet<>();
        ArgGroupSpec group = option.group();
        if (group != null && group.exclusive()) {
            for (ArgSpec other : group.args()) {
                names.addAll(List.of(((OptionSpec) other).names()));
            }
        }
        names.addAll(List.of(option.names()));
        return List.copyOf(names);
    }

    static boolean isRepeatable(OptionSpec option) {
        return option.isMultiValue() || Map.class.isAssignableFrom(option.type());
    }

    static boolean takesValue(OptionSpec option) {
        return option.arity().max() > 0;
    }

    private static String text(String[] lines) {
        List<String> formatted = new ArrayList<>();
        for (String line : lines) {
            formatted.add(formatted(line));
        }
        return String.join(" ", formatted);
    }

    /** Replaces what picocli formats as {@link String#format} does. */
    private static String formatted(String text) {
        return text.indexOf('%') < 0 ? text : String.format(Locale.ROOT, text);
    }
}
