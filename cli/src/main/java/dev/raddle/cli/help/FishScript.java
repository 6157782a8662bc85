package dev.raddle.cli.help;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Writes the completion for fish: a function that finds the command of the line so far, and a {@code complete} for each
 * option of each command.
 */
final class FishScript {
    /** Added to the path of a command that runs another command, when the line has reached that. */
    private static final String OTHER = " CMD";

    private final StringBuilder script = new StringBuilder();
    private final String name;

    private FishScript(String name) {
        this.name = name;
    }

    static String of(CommandLine commandLine) {
        FishScript fish = new FishScript(commandLine.getCommandName());
        List<CommandNode> nodes = CommandNode.all(commandLine);
        fish.line("# Made by \"" + fish.name + " completion fish\".");
        fish.function(nodes);
        fish.line("");
        fish.line("complete -c " + fish.name + " -f");
        nodes.forEach(fish::completions);
        return fish.script.toString();
    }

    private void line(String text) {
        script.append(text).append('\n');
    }

    private void function(List<CommandNode> nodes) {
        List<String> below = new ArrayList<>();
        List<String> withValue = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (CommandNode node : nodes) {
            node.children().forEach(child -> below.add(quoted(child.path())));
            node.options().stream()
                    .filter(CommandNode::takesValue)
                    .flatMap(option -> List.of(option.names()).stream())
                    .forEach(option -> withValue.add(quoted(node.path() + " " + option)));
            if (node.takesCommand()) {
                others.add(node.path());
            }
        }
        line("");
        line("# Prints the command of the line so far, such as \"" + name + " run\".");
        line("function __" + name + "_command");
        line("    set -l words (commandline -opc)");
        line("    set -l path " + name);
        line("    set -l skip 0");
        line("    for word in $words[2..-1]");
        line("        if test $skip = 1");
        line("            set skip 0");
        line("            continue");
        line("        end");
        line("        switch \"$path $word\"");
        line("            case " + String.join(" ", below));
        line("                set path \"$path $word\"");
        line("            case " + String.join(" ", withValue));
        line("                set skip 1");
        for (String other : others) {
            line("            case " + quoted(other + " -*"));
            line("            case " + quoted(other + " *"));
            line("                set path " + quoted(other + OTHER));
            line("                break");
        }
        line("        end");
        line("    end");
        line("    echo $path");
        line("end");
        line("");
        line("function __raddle_tasks");
        line("    set -l file (string match -r '^.*\\.(?:yaml|yml|json)$' -- (commandline -opc))[1]");
        line("    " + name + " list --ids $file 2>/dev/null");
        line("end");
    }

    private void completions(CommandNode node) {
        line("");
        String start = start(node.path());
        for (CommandNode child : node.children()) {
            line(start + " -a " + child.name() + " -d " + quoted(child.description()));
        }
        node.options().forEach(option -> line(start + option(option)));
        if (node.children().isEmpty()) {
            node.arguments().forEach(argument -> argument(argument, node));
        }
    }

    private String start(String path) {
        return "complete -c " + name + " -n " + quoted("test (__" + name + "_command) = \"" + path + "\"");
    }

    private static String option(OptionSpec option) {
        StringBuilder line = new StringBuilder();
        for (String name : option.names()) {
            line.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
        }
        if (CommandNode.takesValue(option)) {
            line.append(values(option));
        }
        return line + " -d " + quoted(CommandNode.description(option));
    }

    private void argument(PositionalParamSpec argument, CommandNode node) {
        if (Values.of(argument) == Values.COMMAND) {
            line(start(node.path()) + " -a '(__fish_complete_command)'");
            line(start(node.path() + OTHER) + " -F");
        } else if (Values.of(argument) != Values.FREE) {
            line(start(node.path()) + values(argument).replace(" -r", "").replace(" -x", ""));
        }
    }

    private static String values(ArgSpec arg) {
        return switch (Values.of(arg)) {
            case CHOICE -> " -x -a " + quoted(String.join(" ", Values.choices(arg)));
            case FILE -> " -r -F";
            case DIRECTORY -> " -x -a '(__fish_complete_directories)'";
            case TASK -> " -x -a '(__raddle_tasks)'";
            case COMMAND -> " -x -a '(__fish_complete_command)'";
            case FREE -> " -x";
        };
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
