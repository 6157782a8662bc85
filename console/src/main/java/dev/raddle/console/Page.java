package dev.raddle.console;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The files of the page, which are in the jar. */
final class Page {

    /** What a browser may load: files of the page only, and no script or style inside of a document. */
    static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

    /** A file with its media type and its entity tag. */
    static final class File {
        final String type;
        final byte[] bytes;
        final String tag;

        private File(String type, byte[] bytes) {
            this.type = type;
            this.bytes = bytes;
            this.tag = '"' + HexFormat.of().formatHex(digest(bytes), 0, 8) + '"';
        }
    }

    private static final Pattern NAME = Pattern.compile("([A-Za-z0-9_-]+/)*[A-Za-z0-9_-][A-Za-z0-9._-]*");
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml",
            "txt", "text/plain; charset=utf-8");

    private final ConcurrentHashMap<String, File> files = new ConcurrentHashMap<>(); // those that were asked for

    File get(String name) throws IOException {
        File known = files.get(name);
        if (known == null) {
            known = load(name);
            files.put(name, known);
        }
        return known;
    }

    private static File load(String name) throws IOException {
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        if (type != null && NAME.matcher(name).matches()) {
            try (@Nullable InputStream in = Page.class.getResourceAsStream("page/" + name)) {
                if (in != null) {
                    return new File(type, in.readAllBytes());
                }
            }
        }
        throw new Refusal(404, "there is no such page");
    }

    static byte[] digest(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible); // every JVM has it
        }
    }
}
