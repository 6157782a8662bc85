package dev.raddle.cli.fleet;

import java.util.regex.Pattern;

/** Hides the passwords of URIs in messages. */
public final class Passwords {
    /** Up to the last at sign: a password that was not encoded may contain one, and blanks. */
    private static final Pattern USER_AND_PASSWORD = Pattern.compile("(?s)(\\brediss?(?:-\\w+)?://).*@");

    private Passwords() {}

    /** Returns the text, in which {@code ***} replaces the user and the password of a URI of Redis. */
    public static String hidden(String text) {
        return USER_AND_PASSWORD.matcher(text).replaceAll("$1***@");
    }
}
