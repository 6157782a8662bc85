package dev.raddle.cli.file.value;

import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.Node;

/** A location in an input file. Lines and columns count from 1. */
public record Location(String file, int line, int column) {

    public static Location of(Node node) {
        return node.getStartMark().map(Location::of).orElseThrow();
    }

    public static Location of(Mark mark) {
        return new Location(mark.getName(), mark.getLine() + 1, mark.getColumn() + 1);
    }

    @Override
    public String toString() {
        return file + ":" + line + ":" + column;
    }
}
