package dev.raddle.cli.file;

import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.Node;

/** A place in a text that a person wrote. Lines and columns count from 1. */
public record Location(String file, int line, int column) {

    static Location of(Node node) {
        return node.getStartMark().map(Location::of).orElseThrow();
    }

    static Location of(Mark mark) {
        return new Location(mark.getName(), mark.getLine() + 1, mark.getColumn() + 1);
    }

    @Override
    public String toString() {
        return file + ":" + line + ":" + column;
    }
}
