package dev.raddle.jdbc;

/** Texts that are keys in the database, and so must be stored as they are. */
final class Texts {

    private Texts() {}

    /** Returns whether a column can keep a text: PostgreSQL has no character zero and no half of a surrogate pair. */
    static boolean isStorable(String text) {
        return text.equals(JournalWriter.storable(text));
    }

    /**
     * Ensures that a column can keep a text.
     *
     * @param what the name of the text, for the message
     * @throws IllegalArgumentException if it cannot
     */
    static void requireStorable(String what, String text) {
        if (!isStorable(text)) {
            throw new IllegalArgumentException(
                    what + " must have no character zero and no half of a surrogate pair, was \""
                            + JournalWriter.storable(text) + "\", with ? in their place");
        }
    }

    /** Does the same for a key of some length. */
    static void requireKey(String what, String key, int max) {
        if (key.isEmpty() || key.length() > max || !isStorable(key)) {
            throw new IllegalArgumentException(what + " must have 1 to " + max
                    + " characters, none of them zero, and no half of a surrogate pair; it had " + key.length());
        }
    }
}
