package dev.raddle.cli.file.template;

import java.util.List;
import java.util.Map;

/**
 * A command whose values are all known.
 *
 * @param words the program and its arguments
 * @param values the environment variables that carry values into a shell script
 * @param shown the command as the user would type it, safe to paste into a shell
 */
public record Command(List<String> words, Map<String, String> values, String shown) {

    public Command {
        words = List.copyOf(words);
        values = Map.copyOf(values);
    }
}
