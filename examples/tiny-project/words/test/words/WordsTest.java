package words;

/** Ends normally if words are turned around as they should be. */
public final class WordsTest {

    private WordsTest() {}

    /**
     * Throws what is wrong.
     */
    public static void main() {
        if (!Words.turned("flow").equals("wolf")) {
            throw new AssertionError("flow, turned around, was " + Words.turned("flow"));
        }
    }
}
