package dev.raddle.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;

/** The texts of the script: a library of functions for servers that have them, and a script for those that do not. */
final class ServerScript {

    /** The functions of the script. */
    enum Function {
        /** Executes operations of an instance. */
        BATCH,
        /** Changes a setting. */
        CONFIGURE,
        /** Describes the fleet. Writes nothing. */
        STATUS;

        String suffix() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final String RESOURCE = "fleet.lua";
    private static final int DIGITS = 10;

    /** The name of the library, which differs between releases with different scripts. */
    final String library;

    /** The text for {@code FUNCTION LOAD}. */
    final String libraryText;

    /** The text for {@code EVAL}. Its first argument is the function. */
    final String evalText;

    /** The digest of {@link #evalText}. */
    final String evalSha;

    ServerScript() {
        String source = read();
        library = "raddle_" + sha1(source).substring(0, DIGITS);
        libraryText = "#!lua name=" + library + "\n" + source
                + registered("batch", "")
                + registered("configure", "")
                + registered("status", ", flags = {'no-writes'}");
        evalText = source + "local functions = {batch = batch, configure = configure, status = status}\n"
                + "local name = table.remove(ARGV, 1)\nreturn functions[name](KEYS, ARGV)\n";
        evalSha = sha1(evalText);
    }

    String functionName(Function function) {
        return library + "_" + function.suffix();
    }

    private String registered(String name, String flags) {
        return "redis.register_function{function_name = '" + library + "_" + name + "', callback = " + name + flags
                + "}\n";
    }

    private static String read() {
        try (InputStream text = Objects.requireNonNull(ServerScript.class.getResourceAsStream(RESOURCE), RESOURCE)) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String sha1(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) { // every Java platform has SHA-1
            throw new IllegalStateException(impossible);
        }
    }
}
