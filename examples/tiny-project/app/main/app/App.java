package app;

import words.Words;

/** Reverses each of its arguments. */
public final class App {

    private App() {}

    static String line(String... arguments) {
        StringBuilder line = new StringBuilder();
        for (String argument : arguments) {
            line.append(line.isEmpty() ? "" : " ").append(Words.turned(argument));
        }
        return line.toString();
    }

    /**
     * Prints a line.
     *
     * @param args the words
     */
    public static void main(String[] args) {
        System.out.println(line(args));
    }
}
