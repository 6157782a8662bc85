package dev.raddle.cli.file.value;

/**
 * Makes untrusted text safe to print: the output of a command or a file must not move the cursor or fake another line.
 */
public final class Printable {
    /** Takes the place of the end of a text that is too long for a message. */
    public static final String CUT = "...";

    private Printable() {}

    /** Returns the text with every control character made visible, so that it stays on one line. */
    public static String oneLine(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            switch (c) {
                case '\n' -> printable.append("\\n");
                case '\r' -> printable.append("\\r");
                case '\t' -> printable.append(' ');
                default -> append(printable, c);
            }
        });
        return printable.toString();
    }

    private static void append(StringBuilder printable, int c) {
        int type = Character.getType(c);
        if (type == Character.CONTROL || type == Character.SURROGATE || isDirection(c)) {
            printable.append(String.format("\\u%04x", c));
        } else {
            printable.appendCodePoint(c);
        }
    }

    /** Returns whether the character reorders the text around it, which could make a line read as another. */
    private static boolean isDirection(int c) {
        return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    }
}
