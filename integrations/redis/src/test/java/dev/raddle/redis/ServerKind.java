package dev.raddle.redis;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.embedded.core.ExecutableProvider;

/**
 * A server program that this machine can run.
 *
 * @param name where it comes from
 * @param executable the program
 * @param version its version, such as 7.0.15
 */
record ServerKind(String name, Path executable, String version) {

    private static final Pattern VERSION = Pattern.compile("\\bv=(\\d+\\.\\d+\\.\\d+)");

    private static final List<ServerKind> ALL = find();

    /** Returns all kinds. Prints, once, which ones there are and why others are skipped. */
    static List<ServerKind> all() {
        return ALL;
    }

    private static List<ServerKind> find() {
        List<ServerKind> kinds = new ArrayList<>();
        embedded().ifPresent(kinds::add);
        onPath("redis-server").ifPresent(kinds::add);
        onPath("valkey-server").ifPresent(kinds::add);
        return List.copyOf(kinds);
    }

    /** Returns the newest server that there is. */
    static ServerKind newest() {
        return all().getLast();
    }

    private static Optional<ServerKind> embedded() {
        try {
            File file = ExecutableProvider.newJarResourceProvider().get();
            return of("embedded redis-server", file.toPath());
        } catch (IOException | RuntimeException e) {
            return skipped("embedded redis-server", "the jar has no binary for this machine: " + e);
        }
    }

    private static Optional<ServerKind> onPath(String program) {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            Path file = Path.of(directory, program);
            if (Files.isExecutable(file)) {
                return of(program, file);
            }
        }
        return skipped(program, "it is not on the PATH");
    }

    private static Optional<ServerKind> of(String name, Path file) {
        try {
            Process process = new ProcessBuilder(file.toString(), "--version")
                    .redirectErrorStream(true)
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher matcher = VERSION.matcher(text);
            if (!matcher.find()) {
                return skipped(name, "it does not tell its version: " + text);
            }
            System.out.println("server: " + name + " " + matcher.group(1));
            return Optional.of(new ServerKind(name, file, matcher.group(1)));
        } catch (IOException e) {
            return skipped(name, "it does not run here: " + e);
        }
    }

    private static Optional<ServerKind> skipped(String name, String reason) {
        System.out.println("server: " + name + " skipped, " + reason);
        return Optional.empty();
    }

    /** Returns whether the server has functions, which came with version 7. */
    boolean hasFunctions() {
        return Integer.parseInt(version.substring(0, version.indexOf('.'))) >= 7;
    }

    @Override
    public String toString() {
        return name + " " + version;
    }
}
