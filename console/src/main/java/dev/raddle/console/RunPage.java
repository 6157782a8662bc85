package dev.raddle.console;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * A run as a page of its own, which a browser opens from a disk. It has the same parts as the screen of a console, with
 * its data inside, and loads nothing.
 *
 * {@snippet :
 * try (Writer file = Files.newBufferedWriter(path)) {
 *     RunPage.write(run, json::write, file);
 * }
 * }
 */
public final class RunPage {

    private RunPage() {}

    /** What all pages have in common: the text before the data, and after it. */
    private record Frame(String before, String after) {

        static final Frame FRAME = load();

        private static Frame load() {
            try {
                String script = LinkedScript.of("report.js", Frame::read);
                String style = read("console.css");
                return new Frame(
                        """
                        <!doctype html>
                        <html lang="en">
                        <head>
                        <meta charset="utf-8">
                        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; \
                        script-src '%s'; base-uri 'none'; form-action 'none'">
                        <meta name="viewport" content="width=device-width, initial-scale=1">
                        <meta name="color-scheme" content="light dark">
                        <title>Raddle</title>
                        <style>%s</style>
                        </head>
                        <body>
                        <div id="page"></div>
                        <script type="application/json" id="data">""".formatted(hash(style), hash(script), style),
                        "</script>\n<script type=\"text/plain\">" + read("vendor/LICENSES.txt") + "</script>\n<script>"
                                + script + "</script>\n</body>\n</html>\n");
            } catch (IOException impossible) {
                throw new AssertionError(impossible); // the files are in the same jar
            }
        }

        private static String read(String name) throws IOException {
            try (InputStream in = Objects.requireNonNull(RunPage.class.getResourceAsStream("page/" + name), name)) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        }

        /** Returns a hash in the form of a content security policy. */
        private static String hash(String text) {
            byte[] digest = Page.digest(text.getBytes(StandardCharsets.UTF_8));
            return "sha256-" + Base64.getEncoder().encodeToString(digest);
        }
    }

    /**
     * Writes a page.
     *
     * @param run the run, which should have ended
     * @param json the function that returns a map of maps, lists, texts and numbers as JSON
     * @param page the destination, in UTF-8
     * @throws IOException if it cannot be written
     */
    public static void write(RunView run, Function<Map<String, ?>, String> json, Appendable page) throws IOException {
        page.append(Frame.FRAME.before);
        page.append(json.apply(RunData.of(run)).replace("<", "\\u003c"));
        page.append(Frame.FRAME.after);
    }
}
