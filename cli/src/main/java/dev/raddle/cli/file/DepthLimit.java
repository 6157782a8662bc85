package dev.raddle.cli.file;

import java.util.Optional;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.ParserException;
import org.snakeyaml.engine.v2.parser.Parser;

/**
 * A parser that refuses lists and maps that are nested too deep. What reads its events calls itself for each level, and would
 * overflow the stack. For one thread.
 */
final class DepthLimit implements Parser {
    static final int DEEPEST = 100;

    private final Parser parser;
    private int depth;

    DepthLimit(Parser parser) {
        this.parser = parser;
    }

    @Override
    public boolean checkEvent(Event.ID kind) {
        return parser.checkEvent(kind);
    }

    @Override
    public Event peekEvent() {
        return parser.peekEvent();
    }

    @Override
    public boolean hasNext() {
        return parser.hasNext();
    }

    @Override
    public Event next() {
        Event event = parser.next();
        switch (event.getEventId()) {
            case SequenceStart, MappingStart -> {
                if (++depth > DEEPEST) {
                    throw new ParserException(
                            "",
                            Optional.empty(),
                            "lists and maps must not be nested more than " + DEEPEST + " deep",
                            event.getStartMark());
                }
            }
            case SequenceEnd, MappingEnd -> depth--;
            default -> {}
        }
        return event;
    }
}
