package dev.raddle.cli.file.value;

import java.util.regex.Pattern;

/** Hides the passwords of URIs in messages. */
public final class Passwords {
    /** Up to the last at sign: a password that was not encoded may contain one, and blanks. */
    private static final Pattern USER_AND_PASSWORD =
            Pattern.compile("(?s)(\\b(?:rediss?(?:-\\w+)?|postgres(?:ql)?)://).*@");

    /** Up to the next parameter, if there is one. */
    private static final Pattern PARAMETER = Pattern.compile("(?is)([?&]\\w*password=)[^&]*");

    private Passwords() {}

    /** Returns the text, in which {@code ***} replaces the user and the password of a URI of Redis or PostgreSQL. */
    public static String hidden(String text) {
        String withoutUser = USER_AND_PASSWORD.matcher(text).replaceAll("$1***@");
        return PARAMETER.matcher(withoutUser).replaceAll("$1***");
    }
}
