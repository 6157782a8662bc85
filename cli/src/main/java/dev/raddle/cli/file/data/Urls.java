package dev.raddle.cli.file.data;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the host of a URL. It does not use {@code java.net.URI}, because lists of real URLs contain spaces, bars and
 * braces, which that class refuses and every client accepts.
 */
final class Urls {
    private static final Pattern WITH_HOST = Pattern.compile(
            "[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\\[[0-9A-Fa-f:.]+]|[^\\s/?#:@\\[\\]]+)(?:[:/?#].*)?");

    private Urls() {}

    /** Returns the host in lower case, or null if the text is not a URL with a host. */
    static @Nullable String host(String url) {
        Matcher matcher = WITH_HOST.matcher(url);
        return matcher.matches() ? matcher.group(1).toLowerCase(Locale.ROOT) : null;
    }
}
