package dev.raddle.cli.run;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Assigns a unique file name to every task: its id if that is safe on every file system, otherwise the safe part of it
 * with a checksum of the whole id. The same ids in the same order yield the same names. For one thread.
 */
final class OutputNames {
    private static final Pattern SAFE = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,99}");
    private static final Pattern UNSAFE = Pattern.compile("[^A-Za-z0-9_-]+");
    private static final int MAX_LENGTH = 60;

    private final Set<String> taken = new HashSet<>(); // in lower case: some file systems ignore case

    String name(String id) {
        if (SAFE.matcher(id).matches() && taken.add(id.toLowerCase(Locale.ROOT))) {
            return id;
        }
        String start = safe(id) + "-" + checksum(id, 4);
        String name = start;
        for (int i = 2; !taken.add(name.toLowerCase(Locale.ROOT)); i++) {
            name = start + "-" + i;
        }
        return name;
    }

    private static String safe(String id) {
        String safe = UNSAFE.matcher(id).replaceAll("_");
        String start = safe.isEmpty() || safe.startsWith("-") ? "_" + safe : safe;
        return start.length() <= MAX_LENGTH ? start : start.substring(0, MAX_LENGTH);
    }

    /** Returns the first bytes of the SHA-256 of a text, in hexadecimal digits. */
    static String checksum(String text, int bytes) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
