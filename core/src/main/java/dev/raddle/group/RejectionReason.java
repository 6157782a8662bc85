package dev.raddle.group;

/** The rule that rejected a task, as the word before the colon in the reason. */
enum RejectionReason {
    GROUP_QUEUE("group-queue"),
    BULKHEAD("bulkhead"),
    RATE("rate"),
    PERMITS("permits"),
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
