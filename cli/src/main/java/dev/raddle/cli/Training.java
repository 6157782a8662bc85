package dev.raddle.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs the commands whose classes a start-up cache contains, in one JVM. Used when packages are built; users do not
 * call this.
 */
public final class Training {
    private static final String FLOW = """
            groups: { web: { limit: 2 } }
            tasks:
              - { id: a, run: "true", timeout: 5s }
              - { id: b, run: "echo ${a.stdout}", needs: a, retry: { attempts: 2 } }
              - { forEach: [ 'http://localhost/1' ], id: "c-${n}", group: "${host}", run: [ echo, "${line}" ] }
            """;
    private static final String PLAIN = "tasks: [{ id: a, group: g, run: 'true' }, { id: b, run: [ 'false' ] }]\n";

    private Training() {}

    /** Runs the commands in an empty directory. */
    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        String flow = Files.writeString(directory.resolve("flow.yaml"), FLOW).toString();
        String plain = Files.writeString(directory.resolve("plain.yaml"), PLAIN).toString();
        Main.run("--version");
        Main.run("--help");
        Main.run("run", "--help");
        Main.run("check", flow);
        Main.run("graph", flow);
        Main.run("list", "--ids", flow);
        Main.run("run", "--dry-run", flow);
        Main.run("run", "--results", directory.resolve("flow").toString(), flow);
        Main.run("run", "--quiet", "--results", directory.resolve("plain").toString(), plain);
        Main.run("run", "--json", "--results", directory.resolve("json").toString(), plain);
        map("--limit", "2", "echo");
        map("--keep-order", "--group-by", "${host}", "--shell", "echo {}");
        Main.run("no-such-command");
    }

    private static void map(String... arguments) {
        System.setIn(new ByteArrayInputStream("http://a/1\nhttp://b/2\n".getBytes(StandardCharsets.UTF_8)));
        String[] all = new String[arguments.length + 1];
        all[0] = "map";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        Main.run(all);
    }
}
