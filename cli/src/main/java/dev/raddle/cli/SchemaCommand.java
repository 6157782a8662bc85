package dev.raddle.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import picocli.CommandLine.Command;

/** Prints the schema of run files. */
@Command(
        name = "schema",
        description = "Prints the JSON Schema of run files, for editors.",
        footer = {
            "",
            "Example, for editors with the YAML language server:",
            "  raddle schema > raddle-file.schema.json",
            "  and as the first line of a run file:",
            "  # yaml-language-server: $$schema=raddle-file.schema.json"
        })
final class SchemaCommand extends Subcommand {
    static final String SCHEMA = "raddle-file.schema.json";

    @Override
    public Integer call() throws IOException {
        try (InputStream input = Objects.requireNonNull(SchemaCommand.class.getResourceAsStream(SCHEMA))) {
            return print(spec, new String(input.readAllBytes(), StandardCharsets.UTF_8));
        }
    }
}
