package dev.raddle.cli.page;

import dev.raddle.cli.run.Json;
import dev.raddle.cli.run.WholeFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Writes data into the template of the page. */
final class PageFile {
    private static final String TEMPLATE = "run-page.html";
    private static final String DATA = "@DATA@";

    private PageFile() {}

    static void write(Path file, Map<String, @Nullable Object> data) throws IOException {
        String json = Json.text(data).replace("<", "\\u003c");
        String template = template();
        int at = template.indexOf(DATA);
        WholeFile.write(file, writer -> {
            writer.write(template, 0, at);
            writer.write(json);
            writer.write(template, at + DATA.length(), template.length() - at - DATA.length());
        });
    }

    /**
     * Returns the page without data. Its policy allows its own script and its own style by their hashes, and nothing
     * else.
     */
    private static String template() throws IOException {
        try (InputStream input = Objects.requireNonNull(PageFile.class.getResourceAsStream(TEMPLATE))) {
            String page = new String(input.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
            String style = hash(between("<style>", "</style>", page));
            String script = hash(between("<script>", "</script>", page));
            return page.replace("@STYLE-HASH@", style).replace("@SCRIPT-HASH@", script);
        }
    }

    private static String between(String begin, String end, String page) {
        int from = page.indexOf(begin) + begin.length();
        return page.substring(from, page.indexOf(end, from));
    }

    /** Returns a hash in the form of a content security policy. */
    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return "sha256-" + Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }
}
