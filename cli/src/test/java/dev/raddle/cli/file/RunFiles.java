package dev.raddle.cli.file;

import dev.raddle.cli.file.data.InputFiles;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.file.value.Problem;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Run files and data files whose content is in the test. */
final class RunFiles {
    static final Path DIRECTORY = Path.of("/somewhere");

    private RunFiles() {}

    static Plan plan(String text, Map<String, String> data) throws InvalidFileException {
        InputFiles inputs = name -> {
            String content = data.get(name);
            if (content == null) {
                throw new NoSuchFileException(name);
            }
            return content.getBytes(StandardCharsets.UTF_8);
        };
        return new PlanReader("checks.yaml", DIRECTORY, inputs).read(text);
    }

    static Plan plan(String text) throws InvalidFileException {
        return plan(text, Map.of());
    }

    /** Returns the problems of a file in their printed form. */
    static List<String> problems(String text, Map<String, String> data) {
        try {
            plan(text, data);
            return List.of();
        } catch (InvalidFileException e) {
            return e.problems().stream().map(Problem::toString).toList();
        }
    }

    static List<String> problems(String text) {
        return problems(text, Map.of());
    }

    /** Returns the problems that a configured reader finds. */
    static List<String> problems(PlanReader reader, String text) {
        try {
            reader.read(text);
            return List.of();
        } catch (InvalidFileException e) {
            return e.problems().stream().map(Problem::toString).toList();
        }
    }
}
