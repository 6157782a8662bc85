package dev.raddle.cli.file;

import java.util.List;
import java.util.Map;

/**
 * A command of which every value is known.
 *
 * @param words the program and its arguments
 * @param values environment variables that carry values into a shell script
 * @param shown the command as a person would type it, safe to paste into a shell
 */
public record Command(List<String> words, Map<String, String> values, String shown) {

    public Command {
        words = List.copyOf(words);
        values = Map.copyOf(values);
    }
}
