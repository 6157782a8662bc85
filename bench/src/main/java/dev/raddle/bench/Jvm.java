package dev.raddle.bench;

/** Arguments of the forked JVMs. */
final class Jvm {

    /** Suppresses the warnings of JDK 24 and later about the way in which JMH reads fields. */
    static final String QUIET = "--sun-misc-unsafe-memory-access=allow";

    /** For Jox and the JDK's scope, which is a preview in JDK 25. Raddle does not need it. */
    static final String PREVIEW = "--enable-preview";

    /** Allocates the whole heap at the start, so that its growth is not part of a result. */
    static final String HEAP_START = "-Xms3g";

    /** Touches every page of the heap at the start: the first touch of a page costs more than a task. */
    static final String TOUCHED = "-XX:+AlwaysPreTouch";

    static final String HEAP_MAX = "-Xmx3g";

    /** The collector that does not add to the live heap. */
    static final String SERIAL_GC = "-XX:+UseSerialGC";

    /** For measurements of sizes: references of four bytes, headers of twelve. */
    static final String COMPRESSED = "-XX:+UseCompressedOops";

    static final String PLAIN_HEADERS = "-XX:-UseCompactObjectHeaders";

    /** The number of processors in the goals; also the number of carriers of virtual threads. */
    static final String TWO_PROCESSORS = "-XX:ActiveProcessorCount=2";

    /** One carrier of virtual threads, whatever the number of processors. */
    static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";

    private Jvm() {}
}
