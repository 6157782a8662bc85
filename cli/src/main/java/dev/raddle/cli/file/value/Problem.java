package dev.raddle.cli.file.value;

/** A mistake with its location: what is wrong, the rule, the value found, and what is allowed. */
public record Problem(Location at, String text) {

    @Override
    public String toString() {
        return at + ": " + text;
    }
}
