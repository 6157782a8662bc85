package dev.raddle.cli.file;

import java.util.List;

/**
 * One clause of a task's {@code needs}. All clauses of a task must hold before it starts.
 *
 * @param kind what the clause waits for
 * @param least how many of the ids must succeed, for {@link Kind#AT_LEAST}; otherwise 1
 * @param ids the tasks that it names
 * @param places where each of the ids stands
 */
public record Need(Kind kind, int least, List<String> ids, List<Location> places) {

    /** What a clause waits for. */
    public enum Kind {
        /** The success of the task. */
        MUST("must"),
        /** The first success among the tasks. */
        ANY("any"),
        /** So many successes among the tasks. */
        AT_LEAST("atLeast"),
        /** Nothing: what the task printed is used if it is there. */
        OPTIONAL("optional"),
        /** The end of the task, whatever it is. */
        AFTER("after");

        private final String key;

        Kind(String key) {
            this.key = key;
        }

        /** The word of a run file. */
        public String key() {
            return key;
        }
    }

    /** Copies the lists. */
    public Need {
        ids = List.copyOf(ids);
        places = List.copyOf(places);
    }

    /** The clause in a word or two: must, any, at least 2, optional, after. */
    public String label() {
        return kind == Kind.AT_LEAST ? "at least " + least : kind.key;
    }
}
