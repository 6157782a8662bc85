package dev.raddle.cli.help;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Writes the completion for zsh: a function for each command, which calls {@code _arguments}. */
final class ZshScript {
    private static final String TASKS = "__raddle_tasks";

    private final StringBuilder script = new StringBuilder();

    private ZshScript() {}

    static String of(CommandLine commandLine) {
        ZshScript zsh = new ZshScript();
        String name = commandLine.getCommandName();
        zsh.line("#compdef " + name);
        zsh.line("# Made by \"" + name + " completion zsh\".");
        for (CommandNode node : CommandNode.all(commandLine)) {
            zsh.function(node);
        }
        zsh.line("");
        zsh.line(TASKS + "() {");
        zsh.line("  local file=${words[(r)*.(yaml|yml|json)]}");
        zsh.line("  local -a ids=(${(f)\"$(_call_program tasks " + name + " list --ids ${file:+${(q)file}})\"})");
        zsh.line("  compadd -a ids");
        zsh.line("  [[ -n $file ]] || _files");
        zsh.line("}");
        String function = function(name);
        zsh.line("");
        zsh.line("# Autoloaded as a completion function, or sourced.");
        zsh.line("if [ \"$funcstack[1]\" = \"" + function + "\" ]; then");
        zsh.line("  " + function + " \"$@\"");
        zsh.line("else");
        zsh.line("  compdef " + function + " " + name);
        zsh.line("fi");
        return zsh.script.toString();
    }

    private void line(String text) {
        script.append(text).append('\n');
    }

    private static String function(String path) {
        return "_" + path.replace(' ', '_').replace('-', '_');
    }

    private void function(CommandNode node) {
        List<String> specs = new ArrayList<>();
        node.options().forEach(option -> specs.add(option(option)));
        List<CommandNode> children = node.children();
        if (children.isEmpty()) {
            boolean namesTasks = node.arguments().stream().anyMatch(argument -> Values.of(argument) == Values.TASK);
            node.arguments().forEach(argument -> specs.addAll(argument(argument, namesTasks)));
        } else {
            specs.add("'(-): :->command'");
            specs.add("'(-)*:: :->arguments'");
        }
        line("");
        line(function(node.path()) + "() {");
        if (!children.isEmpty()) {
            line("  local context state state_descr line curcontext=\"$curcontext\"");
            line("  typeset -A opt_args");
        }
        line("  _arguments -s -S" + (children.isEmpty() ? "" : " -C") + " \\");
        line("    " + String.join(" \\\n    ", specs));
        if (!children.isEmpty()) {
            states(children);
        }
        line("}");
    }

    private void states(List<CommandNode> children) {
        line("  case $state in");
        line("    command)");
        line("      local -a commands=(");
        for (CommandNode child : children) {
            line("        " + quoted(child.name() + ":" + child.description()));
        }
        line("      )");
        line("      _describe -t commands command commands");
        line("      ;;");
        line("    arguments)");
        line("      case $words[1] in");
        for (CommandNode child : children) {
            line("        " + child.name() + ") " + function(child.path()) + " ;;");
        }
        line("      esac");
        line("      ;;");
        line("  esac");
    }

    private static String option(OptionSpec option) {
        boolean takesValue = CommandNode.takesValue(option);
        List<String> names = new ArrayList<>();
        for (String name : option.names()) {
            names.add(name + (!takesValue ? "" : name.startsWith("--") ? "=" : "+"));
        }
        String excluded = CommandNode.isRepeatable(option)
                ? "'*'"
                : option.usageHelp() || option.versionHelp()
                        ? "'(- *)'"
                        : "'(" + String.join(" ", CommandNode.excluded(option)) + ")'";
        String written = names.size() == 1 ? names.getFirst() : "{" + String.join(",", names) + "}";
        String value = takesValue ? ":" + escaped(option.paramLabel()) + ":" + action(option) : "";
        return excluded + written + quoted("[" + escaped(CommandNode.description(option)) + "]" + value);
    }

    private static List<String> argument(PositionalParamSpec argument, boolean namesTasks) {
        if (Values.of(argument) == Values.COMMAND) {
            return List.of("'(-):command: _command_names -e'", "'(-)*::arguments: _normal'");
        }
        String start = argument.index().isVariable() ? "*:" : argument.arity().min() == 0 ? "::" : ":";
        String action = namesTasks && Values.of(argument) == Values.FILE ? TASKS : action(argument);
        return List.of(quoted(start + argument.paramLabel() + ":" + action));
    }

    private static String action(ArgSpec arg) {
        return switch (Values.of(arg)) {
            case CHOICE -> "(" + String.join(" ", Values.choices(arg)) + ")";
            case FILE -> "_files";
            case DIRECTORY -> "_files -/";
            case TASK -> TASKS;
            case COMMAND -> "_command_names -e";
            case FREE -> " "; // a message, but no proposals
        };
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\")
                .replace("[", "\\[")
                .replace("]", "\\]")
                .replace(":", "\\:");
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
