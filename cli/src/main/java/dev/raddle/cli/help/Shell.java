package dev.raddle.cli.help;

import java.util.Locale;
import java.util.function.Function;
import picocli.AutoComplete;
import picocli.CommandLine;

/** A shell that completes the options and arguments of a command. */
public enum Shell {
    /** Bash, by the generator of picocli. */
    BASH(Shell::bash),
    /** Zsh, with a description for each option. */
    ZSH(ZshScript::of),
    /** Fish, with a description for each option. */
    FISH(FishScript::of);

    /** Proposes tasks. Not by compgen -W, which would expand an id as a shell does. */
    private static final String TASKS_IN_BASH = """

                local word file=()
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                  [[ "${word}" == *.@(yaml|yml|json) ]] && file=("${word}") && break
                done
                while IFS= read -r word; do
                  [[ "${word}" == "${curr_word}"* ]] && COMPREPLY+=("${word}")
                done < <("${COMP_WORDS[0]}" list --ids "${file[@]}" 2>/dev/null)
                type compopt &>/dev/null && compopt -o filenames # quotes what is inserted
            """;

    private final Function<CommandLine, String> writer;

    Shell(Function<CommandLine, String> writer) {
        this.writer = writer;
    }

    /** Returns the script that makes this shell complete a command. */
    public String script(CommandLine commandLine) {
        return writer.apply(commandLine);
    }

    /** Returns the script of picocli, which knows no values that are found when they are needed, with tasks. */
    private static String bash(CommandLine commandLine) {
        String name = commandLine.getCommandName();
        String script = AutoComplete.bash(name, commandLine);
        int run = script.indexOf("\nfunction _picocli_" + name + "_run() {");
        int end = script.indexOf("\n  fi\n}\n", run);
        return run < 0 ? script : script.substring(0, end) + TASKS_IN_BASH + script.substring(end + 1);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
