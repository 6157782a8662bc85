package app;

/** Returns normally if the program prints the expected line. */
public final class AppTest {

    private AppTest() {}

    /**
     * Runs the test.
     */
    public static void main() {
        if (!App.line("pot", "era").equals("top are")) {
            throw new AssertionError("the line was " + App.line("pot", "era"));
        }
    }
}
