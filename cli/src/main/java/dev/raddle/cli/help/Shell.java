package dev.raddle.cli.help;

import java.util.Locale;
import picocli.AutoComplete;
import picocli.CommandLine;

/** A shell that completes the options and arguments of a command. */
public enum Shell {
    /** Bash, by the generator of picocli. */
    BASH {
        @Override
        public String script(CommandLine commandLine) {
            return AutoComplete.bash(commandLine.getCommandName(), commandLine);
        }
    },
    /** Zsh, with a description for each option. */
    ZSH {
        @Override
        public String script(CommandLine commandLine) {
            return ZshScript.of(commandLine);
        }
    },
    /** Fish, with a description for each option. */
    FISH {
        @Override
        public String script(CommandLine commandLine) {
            return FishScript.of(commandLine);
        }
    };

    /** Returns the script that makes this shell complete a command. */
    public abstract String script(CommandLine commandLine);

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
