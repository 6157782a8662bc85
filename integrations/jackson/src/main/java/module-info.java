/** Raddle with Jackson 3: {@linkplain dev.raddle.jackson.JacksonCodec a codec} of durable flows that stores JSON. */
@org.jspecify.annotations.NullMarked
module dev.raddle.jackson {
    requires transitive dev.raddle;
    requires transitive tools.jackson.databind;
    requires static org.jspecify;

    exports dev.raddle.jackson;
}
