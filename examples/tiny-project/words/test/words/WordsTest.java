package words;

/** Returns normally if words are reversed correctly. */
public final class WordsTest {

    private WordsTest() {}

    /**
     * Runs the test.
     */
    public static void main() {
        if (!Words.turned("flow").equals("wolf")) {
            throw new AssertionError("flow, reversed, was " + Words.turned("flow"));
        }
    }
}
