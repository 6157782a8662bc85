package words;

/** Reverses words. */
public final class Words {

    private Words() {}

    /**
     * Reverses a word.
     *
     * @param word any text
     * @return its characters, the last one first
     */
    public static String turned(String word) {
        return new StringBuilder(word).reverse().toString();
    }
}
