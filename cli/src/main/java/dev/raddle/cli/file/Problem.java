package dev.raddle.cli.file;

/** One thing that is wrong, with its place: what, the rule, the value found, what is allowed. */
public record Problem(Location at, String text) {

    @Override
    public String toString() {
        return at + ": " + text;
    }
}
