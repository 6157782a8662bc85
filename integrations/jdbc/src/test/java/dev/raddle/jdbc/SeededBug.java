package dev.raddle.jdbc;

import java.util.function.UnaryOperator;

/** Bugs on purpose, made by changing statements. The judge must find each, or it is blind. */
enum SeededBug {
    /** A worker writes although another one has claimed the run. */
    NO_EPOCH {
        @Override
        String change(String sql) {
            return sql.replace("AND h.current = i.epoch", "")
                    .replace("id = ? AND epoch = ? FOR SHARE OF", "id = ? AND ? > 0 FOR SHARE OF")
                    .replace(
                            "id = ? AND epoch = ? AND ended_at IS NULL RETURNING",
                            "id = ? AND ? > 0" + " AND ended_at IS NULL RETURNING")
                    .replace("SELECT id, epoch, cancel_reason FROM raddle_run", "SELECT id, 0, NULL FROM raddle_run");
        }
    },
    /** The epoch is compared, but the row is not locked, so a claim may come in between. */
    NO_LOCK {
        @Override
        String change(String sql) {
            return sql.replace("ORDER BY id FOR SHARE SKIP LOCKED", "ORDER BY id")
                    .replace("AND epoch = ? FOR SHARE OF raddle_run", "AND epoch = ?");
        }
    },
    /** A heartbeat whose deadline has passed is not noticed. */
    NO_DEADLINE {
        @Override
        String change(String sql) {
            return sql.replace("last_heartbeat <= ?", "last_heartbeat <= ?::timestamptz - interval '1 day'");
        }
    },
    /** Claims do not read what was recorded before. */
    NO_MEMORY {
        @Override
        String change(String sql) {
            return sql.replace(
                    "FROM raddle_entry WHERE run_id = ? ORDER BY",
                    "FROM raddle_entry WHERE run_id = ? AND" + " kind <> 'NODE' ORDER BY");
        }
    },
    /** Claims do not read what was undone before. */
    NO_MEMORY_OF_UNDOINGS {
        @Override
        String change(String sql) {
            return sql.replace(
                    "FROM raddle_entry WHERE run_id = ? ORDER BY",
                    "FROM raddle_entry WHERE run_id = ? AND kind <> 'COMPENSATED' ORDER BY");
        }
    },
    /** A round is decided, and then fails, before its run is stored in another transaction. */
    ROUND_IN_TWO_TRANSACTIONS {
        @Override
        String change(String sql) {
            return sql.startsWith("UPDATE raddle_schedule SET next_at = ?, last_run")
                    ? sql + "; COMMIT; SELECT 1"
                    : sql;
        }
    },
    /** The end of a node is recorded after the transaction of its action, in another one. */
    TWO_TRANSACTIONS {
        @Override
        String change(String sql) {
            return sql.replace("(SELECT count(*) FROM written)", "1")
                    .replace("FROM held WHERE pg_current_xact_id()::text = ?", "FROM held WHERE ? = 'never'");
        }
    };

    abstract String change(String sql);

    static UnaryOperator<String> named(String name) {
        return name == null ? sql -> sql : valueOf(name)::change;
    }
}
