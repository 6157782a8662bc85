package dev.raddle.cli.file;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the host of a URL. Written by hand because lists of real URLs contain spaces, bars and braces, which
 * {@code java.net.URI} refuses while every client accepts them.
 */
final class Urls {
    private static final Pattern WITH_HOST = Pattern.compile(
            "[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\\[[0-9A-Fa-f:.]+]|[^\\s/?#:@\\[\\]]+)(?:[:/?#].*)?");

    private Urls() {}

    /** The host in lower case; null if this is no URL with a host. */
    static @Nullable String host(String url) {
        Matcher matcher = WITH_HOST.matcher(url);
        return matcher.matches() ? matcher.group(1).toLowerCase(Locale.ROOT) : null;
    }
}
