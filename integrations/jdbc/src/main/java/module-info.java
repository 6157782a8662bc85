/**
 * Raddle with a database: runs of flows that {@linkplain dev.raddle.jdbc.FlowService survive their process}.
 */
@org.jspecify.annotations.NullMarked
module dev.raddle.jdbc {
    requires transitive dev.raddle;
    requires transitive java.sql;
    requires com.github.kagkarlsson.scheduler;
    requires org.slf4j;
    requires static org.jspecify;

    exports dev.raddle.jdbc;
}
