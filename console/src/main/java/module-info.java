/** Raddle's {@linkplain dev.raddle.console.Console console}: a page that shows what runs now and why the rest waits. */
@org.jspecify.annotations.NullMarked
module dev.raddle.console {
    requires transitive dev.raddle;
    requires transitive jdk.httpserver; // for Console.answer
    requires tools.jackson.databind;
    requires static java.management; // for the owners of locks
    requires static dev.raddle.jdbc; // for DurableConsole
    requires static dev.raddle.redis; // for FleetConsole
    requires static org.jspecify;

    exports dev.raddle.console;

    opens dev.raddle.console to
            tools.jackson.databind; // which reads the records of the answers
}
