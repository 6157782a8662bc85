package dev.raddle.jdbc;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A run that is to be stored, unless it was stored before.
 *
 * @param registration the version of its flow
 * @param runId its id
 * @param parameter the encoded parameter, null for null
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Submission(Registration<?> registration, String runId, byte @Nullable [] parameter) {

    /** The state of a failure because the run was stored or removed while the statement waited for that. */
    static final String MEANWHILE = "40001";

    /** Encodes the parameter. Throws if it cannot be stored. */
    static Submission of(Registration<?> registration, String runId, @Nullable Object parameter) {
        try {
            return new Submission(
                    registration,
                    runId,
                    registration.values().encode("the parameter of run \"" + runId + "\"", parameter));
        } catch (IOException cannot) {
            throw new IllegalArgumentException(cannot.getMessage(), cannot);
        }
    }

    /** Stores the run and returns true, or returns false if the same one was stored before. */
    boolean store(Connection connection) throws SQLException {
        if (storeIfNew(connection)) {
            return true;
        }
        RunTable.Submitted before = RunTable.submitted(connection, runId);
        if (before == null) {
            throw new SQLException("run \"" + runId + "\" was removed meanwhile; submit it again", MEANWHILE);
        }
        String text = "run \"" + runId + "\" was submitted before with ";
        if (!before.flow().equals(registration.flow())) {
            throw new IllegalArgumentException(text + "flow \"" + before.flow() + "\", and this is flow \""
                    + registration.flow() + "\"; give each run an id of its own");
        }
        if (!isSame(registration.values(), before.parameter(), parameter)) {
            throw new IllegalArgumentException(text + "another parameter: it had " + lengthOf(before.parameter())
                    + ", this one has " + lengthOf(parameter) + differenceOf(before.parameter(), parameter)
                    + "; give each run an id of its own");
        }
        RunTable.restore(connection, runId);
        return false;
    }

    /** Stores the run and returns true, or returns false if any run has its id. */
    boolean storeIfNew(Connection connection) throws SQLException {
        Map<String, String> context = registration.options().savedContext();
        return RunTable.submit(connection, runId, registration.flow(), registration.version(), parameter, context);
    }

    /** Returns whether two encoded parameters are equal. Equal sets and maps may be encoded in another order. */
    private static boolean isSame(Values values, byte @Nullable [] one, byte @Nullable [] other) {
        if (one == null || other == null || Arrays.equals(one, other)) {
            return Arrays.equals(one, other);
        }
        try {
            return Objects.equals(values.decode(one), values.decode(other));
        } catch (IOException unreadable) {
            return false;
        }
    }

    private static String lengthOf(byte @Nullable [] bytes) {
        return bytes == null ? "none" : bytes.length + " bytes";
    }

    private static String differenceOf(byte @Nullable [] one, byte @Nullable [] other) {
        return one == null || other == null ? "" : " and differs from byte " + Arrays.mismatch(one, other) + " on";
    }
}
