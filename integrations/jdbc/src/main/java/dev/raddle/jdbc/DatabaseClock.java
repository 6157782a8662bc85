package dev.raddle.jdbc;

import com.github.kagkarlsson.scheduler.Clock;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;

/**
 * The clock of the database, so that the clocks of the workers need not agree. Between two looks at the database it
 * advances with the elapsed time of this machine, so a step of the wall clock does not change it.
 */
final class DatabaseClock implements Clock {

    /** The moment that the database had at a moment of this machine. */
    private record Reading(Instant instant, long nanos) {}

    private final Database database;
    private volatile Reading reading;

    /** Reads the clock of the database. */
    DatabaseClock(Database database) throws SQLException {
        this.database = database;
        reading = read(database);
    }

    void synchronize() throws SQLException {
        reading = read(database);
    }

    private static Reading read(Database database) throws SQLException {
        return database.statement("SELECT clock_timestamp()", statement -> {
            long before = System.nanoTime();
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Instant instant = row.getObject(1, OffsetDateTime.class).toInstant();
                return new Reading(instant, before + (System.nanoTime() - before) / 2);
            }
        });
    }

    @Override
    public Instant now() {
        Reading last = reading;
        return last.instant().plus(Duration.ofNanos(System.nanoTime() - last.nanos()));
    }
}
