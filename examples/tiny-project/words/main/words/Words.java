package words;

/** Turns words around. */
public final class Words {

    private Words() {}

    /**
     * Turns a word around.
     *
     * @param word any text
     * @return its characters, the last one first
     */
    public static String turned(String word) {
        return new StringBuilder(word).reverse().toString();
    }
}
