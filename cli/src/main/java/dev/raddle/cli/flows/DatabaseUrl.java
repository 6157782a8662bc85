package dev.raddle.cli.flows;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where a database is. Its messages do not contain the URL.
 *
 * @param jdbc the URL for the driver, without a password
 * @param password the password; null if the URL had none
 * @param isSecret whether the URL contained a password, or one of a key
 */
public record DatabaseUrl(String jdbc, @Nullable String password, boolean isSecret) {
    private static final String JDBC = "jdbc:";
    private static final List<String> SCHEMES = List.of("postgresql://", "postgres://");
    private static final String USER = "user";
    private static final String PASSWORD = "password";

    /** What a URL consists of, while it is read. */
    private static final class Parts {
        @Nullable
        String user;

        @Nullable
        String password;

        boolean isSecret;
        final List<String> others = new ArrayList<>();
    }

    /**
     * Parses a URL: {@code jdbc:postgresql://host/database?user=name}, or {@code postgresql://user@host/database} as
     * other programs have it.
     *
     * @throws IllegalArgumentException if the URL is invalid
     */
    public static DatabaseUrl parse(String url) {
        boolean isJdbc = url.startsWith(JDBC);
        String address = isJdbc ? url.substring(JDBC.length()) : url;
        String scheme = SCHEMES.stream().filter(address::startsWith).findFirst().orElseThrow(() -> wrong());
        String rest = address.substring(scheme.length());
        int query = rest.indexOf('?');
        Parts parts = new Parts();
        String place = readUser(query < 0 ? rest : rest.substring(0, query), parts);
        if (place.isEmpty() || place.startsWith("/")) {
            throw wrong();
        }
        if (query >= 0) {
            readParameters(rest.substring(query + 1), isJdbc, parts);
        }
        if (parts.user != null) { // the driver looks for the password of this user in ~/.pgpass
            parts.others.add(USER + "=" + URLEncoder.encode(parts.user, StandardCharsets.UTF_8));
        }
        String parameters = parts.others.isEmpty() ? "" : "?" + String.join("&", parts.others);
        return new DatabaseUrl(JDBC + SCHEMES.getFirst() + place + parameters, parts.password, parts.isSecret);
    }

    /** Reads what precedes the at sign, and returns what follows it. */
    private static String readUser(String place, Parts parts) {
        int at = place.lastIndexOf('@');
        if (at < 0) {
            return place;
        }
        String both = place.substring(0, at);
        int colon = both.indexOf(':');
        parts.user = decoded(colon < 0 ? both : both.substring(0, colon), false);
        if (colon >= 0) {
            parts.password = decoded(both.substring(colon + 1), false);
            parts.isSecret = true;
        }
        return place.substring(at + 1);
    }

    private static void readParameters(String query, boolean isJdbc, Parts parts) {
        for (String parameter : query.split("&", -1)) {
            int equals = parameter.indexOf('=');
            String name = equals < 0 ? parameter : parameter.substring(0, equals);
            parts.isSecret |= name.toLowerCase(Locale.ROOT).contains(PASSWORD);
            if (name.equals(USER)) {
                parts.user = decoded(parameter.substring(equals + 1), isJdbc);
            } else if (name.equals(PASSWORD)) {
                parts.password = decoded(parameter.substring(equals + 1), isJdbc);
            } else if (!name.isEmpty()) {
                parts.others.add(parameter);
            }
        }
    }

    /** Replaces the escapes of a text, in which a plus may be a blank. */
    private static String decoded(String text, boolean withPlus) {
        try {
            return URLDecoder.decode(withPlus ? text : text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) { // its message contains a part of the text
            throw wrong();
        }
    }

    /** Returns the exception for a URL that is invalid. */
    static IllegalArgumentException wrong() {
        // Without an at sign: what precedes one after a scheme is hidden in messages.
        return new IllegalArgumentException("the URL of the database must be like"
                + " postgresql://host:5432/database?user=name, also with jdbc: before it, or with the user and an at"
                + " sign before the host; in a user and a password, the signs : / ? # & % are written as %3A %2F %3F"
                + " %23 %26 %25, and the at sign as %40");
    }

    /** Returns the place without the password. */
    @Override
    public String toString() {
        return jdbc;
    }
}
