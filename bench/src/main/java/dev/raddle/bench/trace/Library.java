package dev.raddle.bench.trace;

/** The library of a class. */
enum Library {

    /** Raddle without its benchmarks. */
    RADDLE,

    /** The package {@code java.util.concurrent} without its subpackages. */
    JDK,

    /** All other classes. */
    OTHER;

    private static final String JDK_PACKAGE = "java/util/concurrent/";

    static Library of(String internalName) {
        if (internalName.startsWith("dev/raddle/")) {
            return internalName.startsWith("dev/raddle/bench/") ? OTHER : RADDLE;
        }
        return internalName.startsWith(JDK_PACKAGE) && internalName.lastIndexOf('/') == JDK_PACKAGE.length() - 1
                ? JDK
                : OTHER;
    }
}
