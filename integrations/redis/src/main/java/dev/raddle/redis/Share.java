package dev.raddle.redis;

/** The part of one executor in a group. Owned by the pump. */
final class Share {

    final FleetSession session;
    int wanted; // in the last report of the executor, less what was granted since; a report under way may lower it
    int out; // permits of the server that the executor has
    int local; // permits that were granted to it during an outage, without the server

    Share(FleetSession session) {
        this.session = session;
    }

    boolean isIdle() {
        return wanted == 0 && out == 0 && local == 0;
    }
}
