package dev.raddle.cli.file;

import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import java.util.List;

/**
 * A clause of a task's {@code needs}. All clauses of a task must hold before it starts.
 *
 * @param kind the condition that the clause waits for
 * @param least the number of ids that must succeed, for {@link Kind#AT_LEAST}; otherwise 1
 * @param ids the ids of the upstream tasks
 * @param places the location of each id
 */
public record Need(Kind kind, int least, List<String> ids, List<Location> places) {

    /** The condition that a clause waits for. */
    public enum Kind {
        /** The success of the task. */
        MUST("must"),
        /** The first success among the tasks. */
        ANY("any"),
        /** A minimum number of successes among the tasks. */
        AT_LEAST("atLeast"),
        /** Nothing: the output of the task is used if it exists. */
        OPTIONAL("optional"),
        /** The end of the task, successful or not. */
        AFTER("after");

        private final String key;

        Kind(String key) {
            this.key = key;
        }

        /** Returns the word for it in a run file. */
        public String key() {
            return key;
        }
    }

    /** Copies the lists. */
    public Need {
        ids = List.copyOf(ids);
        places = List.copyOf(places);
    }

    /** Returns the clause for people: the ids, and what it waits for unless that is the success of each. */
    public String text() {
        String all = Printable.oneLine(String.join(", ", ids));
        return kind == Kind.MUST ? all : label() + " (" + all + ")";
    }

    /** Returns a short label of the clause: must, any, at least 2, optional, after. */
    public String label() {
        return kind == Kind.AT_LEAST ? "at least " + least : kind.key;
    }
}
