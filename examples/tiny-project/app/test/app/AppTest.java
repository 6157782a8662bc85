package app;

/** Ends normally if the program says what it should. */
public final class AppTest {

    private AppTest() {}

    /**
     * Throws what is wrong.
     */
    public static void main() {
        if (!App.line("pot", "era").equals("top are")) {
            throw new AssertionError("it said " + App.line("pot", "era"));
        }
    }
}
