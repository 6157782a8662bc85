/**
 * Raddle with SLF4J: tasks log with the submitter's {@linkplain dev.raddle.slf4j.MdcPropagator MDC}, and exceptions
 * that do not affect a task go to {@linkplain dev.raddle.slf4j.LoggingSink an SLF4J logger}.
 */
@org.jspecify.annotations.NullMarked
module dev.raddle.slf4j {
    requires transitive dev.raddle;
    requires transitive org.slf4j;
    requires static org.jspecify;

    exports dev.raddle.slf4j;
}
