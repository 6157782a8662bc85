package dev.raddle.bench;

/** Arguments of the forked JVMs. */
final class Jvm {

    /** JMH reads fields in a way that JDK 24 and later warn of. */
    static final String QUIET = "--sun-misc-unsafe-memory-access=allow";

    /** Jox needs the JDK's scope, which is a preview in JDK 25. Raddle does not. */
    static final String PREVIEW = "--enable-preview";

    /** The whole heap from the start, so that its growth is not part of any result. */
    static final String HEAP_START = "-Xms3g";

    /** Every page of it, too: the first touch of a page costs more than a task. */
    static final String TOUCHED = "-XX:+AlwaysPreTouch";

    static final String HEAP_MAX = "-Xmx3g";

    /** The collector that adds nothing to what is alive. */
    static final String SERIAL_GC = "-XX:+UseSerialGC";

    /** Where sizes are the question: references of four bytes, headers of twelve. */
    static final String COMPRESSED = "-XX:+UseCompressedOops";

    static final String PLAIN_HEADERS = "-XX:-UseCompactObjectHeaders";

    /** What the goals speak of; makes two carriers of virtual threads, too. */
    static final String TWO_PROCESSORS = "-XX:ActiveProcessorCount=2";

    /** One carrier of virtual threads, whatever the number of processors. */
    static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";

    private Jvm() {}
}
