package dev.raddle.group;

/** The word before the colon in a rejection's reason: which rule left no room. */
enum RejectionReason {
    GROUP_QUEUE("group-queue"),
    BULKHEAD("bulkhead"),
    GLOBAL_QUEUE("global-queue"),
    QUEUE_TIMEOUT("queue-timeout"),
    SHUTDOWN("shutdown"),
    EVICTED("evicted");

    private final String word;

    RejectionReason(String word) {
        this.word = word;
    }

    @Override
    public String toString() {
        return word;
    }
}
