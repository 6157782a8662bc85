package dev.raddle.redis;

import java.util.stream.Stream;

/** The names of keys and channels of a namespace, in the order of the script. */
record Keys(String namespace) {

    private static final String[] NAMES = {"used", "held", "own", "exp", "conf", "wait", "ready", "rate", "due", "meta"
    };

    String[] all() {
        return Stream.of(NAMES).map(name -> "{" + namespace + "}:" + name).toArray(String[]::new);
    }

    /** Returns what the channel of every instance begins with. */
    String channelPrefix() {
        return "{" + namespace + "}:n:";
    }
}
