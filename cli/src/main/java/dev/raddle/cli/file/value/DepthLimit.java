package dev.raddle.cli.file.value;

import java.util.Optional;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.ParserException;
import org.snakeyaml.engine.v2.parser.Parser;

/**
 * A parser that refuses lists and maps that are nested too deep. The consumer of its events recurses for each level,
 * and would overflow the stack. For one thread.
 */
final class DepthLimit implements Parser {
    static final int MAX_DEPTH = 100;

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
                if (++depth > MAX_DEPTH) {
                    throw new ParserException(
                            "",
                            Optional.empty(),
                            "lists and maps must not be nested more than " + MAX_DEPTH + " deep",
                            event.getStartMark());
                }
            }
            case SequenceEnd, MappingEnd -> depth--;
            default -> {}
        }
        return event;
    }
}
