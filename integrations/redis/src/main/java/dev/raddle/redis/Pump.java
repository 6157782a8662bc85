package dev.raddle.redis;

import dev.raddle.group.PermitSource;
import dev.raddle.group.PermitStatus;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Exchanges what an instance wants and holds for what the server grants. */
final class Pump {

    /*
     * Overview.
     *
     * Everything here and in the ledger is owned by the thread of the mailbox. Executors, the client's callbacks and
     * alarms only post actions. When no action is left, `proceed` does what is due and sends a call, unless one is
     * under way; so a call contains all that has gathered since the last one, and renews the lease.
     *
     * A lease ends 0.9 ttl after its last successful call was sent. The server counts from when it executed the call,
     * and until all of ttl, so the instance gives up first. It then revokes what it has granted, forgets the call under
     * way, and goes on with another id: what the old one holds at the server comes back when its lease has ended there.
     *
     * The server executes nothing else during a call. A call that takes long keeps other instances from renewing their
     * leases, so the number of its operations follows from how long the calls before it took.
     *
     * A call is repeated under its number, on a new link, until it has an answer or the lease has ended. The server
     * executes it once. So neither an unsent call nor a lost answer loses permits.
     *
     * A message asks for a call, because another instance's call has served a ticket of this one. It contains the
     * number of the last call that the server has executed; a later one that was answered has brought the permits. A
     * message that is lost is made up for by the next heartbeat.
     *
     * Another incarnation means that the server has lost data. It has not executed the call. The next one states all
     * that is held, and syncs. An instance that has lost its lease meanwhile has nothing to state, and its first call
     * is executed; in both cases the next call restores the settings, which this instance knows from an earlier
     * incarnation. So the settings are back before the server grants again, if one instance that knows them is there.
     * For an instance that was known this is an outage, which ends when the server grants again.
     */

    private static final long LEASE_TENTHS = 9;
    private static final long CLOCK_ALARM_MICROS = 1_000_000;

    private final FleetOptions options;
    private final Keys keys;
    private final TimeSource time;
    private final long ttl; // in nanoseconds
    private final Notifier notifier;
    private final Counters counters = new Counters();
    private final OutageState outage;
    private final Ledger ledger;
    private final Mailbox mailbox;
    private final String channelId = Long.toString(ThreadLocalRandom.current().nextLong(1L << 60), 36);
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Connection connection;

    private @Nullable Link answeredBy; // the last link by which a call was answered

    private String id = "";
    private int ids;
    private long number; // of the last call that was answered
    private String incarnation = "";
    private long longestLease; // that any instance has, in ms
    private Map<String, String> settings = Map.of();
    private String settingsOf = ""; // the incarnation that has these settings
    private boolean needsSettings; // the server has lost them
    private @Nullable Call call; // under way
    private int operations = 4 * Batch.FEWEST; // that fill a call

    private volatile Moment leaseEnd = Moment.NONE; // if there is a lease
    private long heartbeatAt;
    private Moment due = Moment.NONE; // of a rate or a quarantine
    private long calledAfter; // number of the call after which a message has asked for another
    private boolean needsRestore;
    private long knownBehindMicros = -1; // of the clock of the server behind the fleet's time; negative before a call
    private volatile Moment quarantineEnd = Moment.NONE; // if there is a quarantine
    private volatile String quarantineCause = "";
    private String evictionPolicy = ""; // of the server, empty: unknown
    private volatile String trouble = "not connected yet";

    private boolean isClosing;
    private boolean isEnding;
    private boolean isLeaving; // the last call is under way
    private @Nullable Alarm alarm;
    private long alarmAt; // if alarm != null

    /** A call that is under way, or will be repeated. */
    private static final class Call {
        final String[] arguments;
        final boolean isFull;
        final boolean restoresSettings;
        boolean isSent;
        long sentAt;

        Call(String[] arguments, boolean isFull, boolean restoresSettings) {
            this.arguments = arguments;
            this.isFull = isFull;
            this.restoresSettings = restoresSettings;
        }
    }

    Pump(FleetOptions options, Server server) {
        this.options = options;
        keys = new Keys(options.namespace());
        time = options.timeSource();
        ttl = options.lease().toNanos();
        notifier = new Notifier(options.listener(), options.sink());
        outage = new OutageState(options, notifier);
        ledger = new Ledger(options, this::isLeaseValid, counters, notifier);
        mailbox = new Mailbox("raddle-fleet-" + options.namespace(), this::proceed, this::recover);
        String channel = keys.channelPrefix() + channelId;
        connection = new Connection(options, server, channel, mailbox, this::received, this::fail);
        longestLease = options.lease().toMillis();
        heartbeatAt = time.nanoTime();
        newId();
    }

    void start() {
        mailbox.start();
    }

    Ledger ledger() {
        return ledger;
    }

    Counters counters() {
        return counters;
    }

    long outages() {
        return outage.outages();
    }

    /** Runs an action in the thread of this pump. */
    void post(Runnable action) {
        mailbox.post(action);
    }

    PermitSource.Session open(PermitSource.Holder holder) {
        return new FleetSession(this, holder, options.sink());
    }

    PermitStatus statusOf(String key) {
        LocalGroup group = ledger.find(key);
        if (group != null && !group.isWatched) {
            group.isWatched = true;
            post(ledger::refreshStatus);
        }
        PermitStatus known = group == null ? PermitStatus.UNKNOWN : group.status;
        return new PermitStatus(known.limit(), known.position(), known.holders(), obstacle());
    }

    private @Nullable String obstacle() {
        if (!isLeaseValid()) {
            return "no answer of the server, " + trouble;
        }
        Moment end = quarantineEnd;
        long now = time.nanoTime();
        return end.isAhead(now)
                ? "nothing is granted for " + (end.until(now) + 999_999) / 1_000_000 + " ms, because " + quarantineCause
                : null;
    }

    /** Returns why the server does not answer. */
    String trouble() {
        return trouble;
    }

    Connection connection() {
        return connection;
    }

    /** Returns everything, then completes the result. It may never complete if the server does not answer. */
    CompletableFuture<Void> leave() {
        post(() -> isClosing = true);
        return closed;
    }

    /** Ends the thread and the connections, then completes the result. */
    CompletableFuture<Void> end() {
        post(() -> {
            isEnding = true;
            leaseEnd = Moment.NONE;
            if (alarm != null) {
                alarm.cancel();
            }
            if (ledger.isAnyOut()) {
                ledger.loseAll("the fleet was closed");
            }
            connection.end();
        });
        return connection.ended();
    }

    private boolean isLeaseValid() {
        return leaseEnd.isAhead(time.nanoTime());
    }

    // What is due.

    private void proceed() {
        if (isEnding) {
            return;
        }
        long now = time.nanoTime();
        if (leaseEnd.isReached(now)) {
            loseLease(now, "the lease ended without an answer of the server: " + trouble, true);
        }
        if (call != null && call.isSent && now - (call.sentAt + ttl / 3) >= 0) {
            fail(now, "no answer within " + ttl / 3_000_000 + " ms");
        }
        if (!leaseEnd.isSet() && connection.slowAt().isReached(now)) {
            trouble = "no connection within " + connection.slow() / 1_000_000 + " ms";
            beginOutage(now, trouble);
        }
        ledger.tick(now);
        Link link = connection.link();
        if (link == null) {
            connection.connectIfDue(now);
        } else if (!link.isConnected()) {
            fail(now, "the connection was closed");
        } else if (call != null) {
            if (!call.isSent) {
                send(call, link, now);
            }
        } else if (!closed.isDone()) {
            sendIfDue(link, now);
        }
        if (isClosing && connection.link() == null) {
            closed.complete(null);
        }
        arm(now);
    }

    private void sendIfDue(Link link, long now) {
        boolean isHeartbeat = now - heartbeatAt >= 0;
        if (isHeartbeat) {
            ledger.refreshStatus();
        }
        if (isHeartbeat
                || due.isReached(now)
                || isClosing
                || calledAfter >= number
                || needsRestore
                || needsSettings
                || link != answeredBy
                || ledger.hasOperations()) {
            due = due.isReached(now) ? Moment.NONE : due;
            call = newCall(link);
            send(call, link, now);
        }
    }

    private Call newCall(Link link) {
        Batch batch = new Batch(operations);
        if (needsSettings) {
            settings.forEach((field, value) -> {
                if (!field.equals("v") && !field.equals("t")) {
                    batch.restore(field, value);
                }
            });
        }
        if (needsRestore) {
            ledger.reassertAll();
            batch.sync();
        }
        needsRestore = false;
        if (isClosing) {
            boolean isBusy = ledger.isAnyOut();
            ledger.returnPools();
            if (!isBusy) {
                batch.leave();
            }
            isLeaving = true;
        }
        ledger.addOperations(batch);
        List<String> header = List.of(
                id,
                "" + (number + 1),
                "" + options.lease().toMillis(),
                "" + longestLease,
                incarnation,
                "0",
                link.publish(),
                keys.channelPrefix(),
                options.instanceName(),
                settings.getOrDefault("v", "-"));
        return new Call(batch.arguments(header), batch.isFull(), needsSettings);
    }

    private void send(Call sent, Link used, long now) {
        sent.arguments[5] = used == answeredBy ? "0" : "1";
        sent.isSent = true;
        sent.sentAt = now;
        heartbeatAt = now + ttl / 6;
        counters.called();
        used.call(ServerScript.Function.BATCH, sent.arguments)
                .whenComplete((answer, failure) -> post(() -> answered(used, sent, now, answer, failure)));
    }

    // Answers and messages.

    private void answered(
            Link used, Call answered, long sentAt, @Nullable List<Object> raw, @Nullable Throwable failure) {
        if (isEnding || answered != call || used != connection.link() || !answered.isSent) {
            return; // given up
        }
        long now = time.nanoTime();
        if (failure != null) {
            fail(now, Connection.textOf(failure));
            return;
        }
        Answer answer;
        try {
            answer = new Answer(raw);
        } catch (FleetException malformed) {
            fail(now, String.valueOf(malformed.getMessage()));
            return;
        }
        if (leaseEnd.isReached(now)) {
            loseLease(now, "the answer came after the end of the lease", true);
            return;
        }
        boolean isRestored = answered.restoresSettings;
        adaptSize(answered, now - sentAt);
        call = null;
        answeredBy = used;
        connection.answered();
        longestLease = Math.max(longestLease, answer.longestLease);
        counters.backendUp = true;
        notePolicy(answer);
        switch (answer.state) {
            case "ok" -> accept(answer, isRestored, sentAt, now);
            case "new" -> restart(answer, sentAt, now);
            default -> loseLease(now, "the server has ended the lease", false);
        }
    }

    /** Lets a call contain as much as the server executes in a small part of the lease. */
    private void adaptSize(Call answered, long took) {
        if (took > ttl / 16) {
            operations = Math.max(Batch.FEWEST, operations / 2);
        } else if (answered.isFull) {
            operations = Math.min(Batch.MOST, operations * 2);
        }
    }

    private void accept(Answer answer, boolean isRestored, long sentAt, long now) {
        number++;
        incarnation = answer.incarnation;
        renew(sentAt);
        acceptSettings(answer, isRestored);
        noteClock(answer);
        ledger.answered(answer);
        if (answer.quarantineMillis == 0) {
            quarantineEnd = Moment.NONE;
            endOutage(now);
        } else if (!quarantineEnd.isSet()) {
            noteQuarantine(answer, now);
        }
        if (answer.quarantineMillis > 0) {
            due = due.orEarlier(now + answer.quarantineMillis * 1_000_000 + 1_000_000);
        } else if (answer.dueMicros >= 0 && ledger.hasTickets()) {
            due = due.orEarlier(now + answer.dueMicros * 1000);
        }
        if (isLeaving) {
            closed.complete(null);
        }
    }

    private void acceptSettings(Answer answer, boolean isRestored) {
        boolean isLost = !isRestored && !settings.isEmpty() && !settingsOf.equals(incarnation);
        needsSettings = isLost;
        if (isLost) {
            askForSettings();
            return;
        }
        settingsOf = incarnation;
        if (answer.settings != null) {
            boolean isChange = settings.containsKey("v");
            settings = answer.settings;
            if (isChange) {
                ledger.askAll();
            }
        }
    }

    /** Lets the next answer contain all settings. */
    private void askForSettings() {
        settings = new HashMap<>(settings);
        settings.put("v", "-");
    }

    /** The server has lost data, and not executed the call. */
    private void restart(Answer answer, long sentAt, long now) {
        number++;
        incarnation = answer.incarnation;
        renew(sentAt);
        isLeaving = false;
        needsRestore = true;
        noteQuarantine(answer, now);
        beginOutage(now, quarantineCause);
        needsSettings = !settings.isEmpty();
        if (needsSettings) {
            askForSettings();
        }
    }

    private void noteQuarantine(Answer answer, long now) {
        quarantineCause = answer.missingKeys.isEmpty()
                ? "the namespace is new, or the server has lost its data or was replaced"
                : "the key " + answer.missingKeys + " was deleted or evicted";
        quarantineEnd = Moment.at(now + answer.quarantineMillis * 1_000_000); // after its cause
        outage.quarantineBegan(Duration.ofMillis(answer.quarantineMillis), quarantineCause);
    }

    /** Warns once of a server that may remove the fleet's keys, which have no expiry. */
    private void notePolicy(Answer answer) {
        String policy = answer.evictionPolicy;
        if (!policy.isEmpty() && !policy.equals(evictionPolicy)) {
            evictionPolicy = policy;
            if (!policy.equals("noeviction") && !policy.startsWith("volatile-")) {
                outage.evictionPossible(policy);
            }
        }
    }

    private void renew(long sentAt) {
        leaseEnd = Moment.at(sentAt + ttl / 10 * LEASE_TENTHS);
    }

    private void endOutage(long now) {
        if (outage.end(now)) {
            ledger.grantLocally(0);
        }
    }

    private void noteClock(Answer answer) {
        long step = answer.behindMicros - knownBehindMicros;
        if (knownBehindMicros >= 0 && step > CLOCK_ALARM_MICROS) {
            outage.clockWentBack(Duration.ofNanos(step * 1000));
        }
        knownBehindMicros = answer.behindMicros;
    }

    /** Takes a message: the id of the receiver and the number of its last call. */
    private void received(String text) {
        String[] lines = text.split("\n", -1);
        if (lines.length != 2 || !lines[0].equals(id)) {
            return; // for an id that was given up
        }
        try {
            calledAfter = Math.max(calledAfter, Long.parseLong(lines[1]));
        } catch (NumberFormatException malformed) {
            options.sink().report("message of the server", malformed);
        }
    }

    // Trouble.

    private void fail(String reason) {
        fail(time.nanoTime(), reason);
    }

    /** Gives the link up. The call under way is repeated on the next one. */
    private void fail(long now, String reason) {
        trouble = reason;
        counters.backendUp = false;
        connection.fail(now);
        if (call != null) {
            operations = Math.max(Batch.FEWEST, operations / 2);
            call.isSent = false;
        }
        if (!leaseEnd.isSet()) {
            beginOutage(now, reason);
        }
    }

    /** Revokes everything and continues under another id. */
    private void loseLease(long now, String reason, boolean isOutage) {
        leaseEnd = Moment.NONE;
        if (call != null && call.isSent && connection.link() != null) {
            connection.giveUp(now);
        }
        call = null;
        isLeaving = false;
        newId();
        int lost = ledger.loseAll(reason);
        counters.lost(lost);
        outage.leaseLost(lost, reason);
        if (isOutage) {
            counters.backendUp = false;
            beginOutage(now, reason);
        }
    }

    private void beginOutage(long now, String reason) {
        if (outage.begin(now, reason)) {
            ledger.grantLocally(
                    switch (options.outageMode()) {
                        case OutageMode.Closed() -> 0;
                        case OutageMode.Local(int permits) -> permits;
                        case OutageMode.Open() -> Integer.MAX_VALUE;
                    });
        }
    }

    private void newId() {
        ids++;
        id = channelId + "." + ids;
        number = 0;
        incarnation = "";
        calledAfter = -1;
        needsRestore = false;
        due = Moment.NONE;
    }

    /** An action has failed in a way that should not happen: begins anew. */
    private void recover(Throwable failure) {
        options.sink().report("pump of fleet \"" + options.namespace() + "\"", failure);
        if (isEnding) {
            return;
        }
        try {
            long now = time.nanoTime();
            loseLease(now, "internal failure: " + failure, true);
            connection.retryAt(now + ttl / 3);
            arm(now);
        } catch (Throwable again) {
            options.sink().report("pump of fleet \"" + options.namespace() + "\"", again);
        }
    }

    // The alarm.

    private void arm(long now) {
        long delay = untilDue(now);
        if (alarm != null && alarmAt - now > 0 && alarmAt - (now + delay) <= 0) {
            return; // it comes earlier
        }
        if (alarm != null) {
            alarm.cancel();
        }
        alarmAt = now + delay;
        alarm = time.after(Duration.ofNanos(delay), () -> post(() -> {}));
    }

    private long untilDue(long now) {
        long delay = Math.min(ledger.untilTick(now), leaseEnd.until(now));
        if (connection.link() == null) {
            delay = Math.min(delay, connection.attemptAt().until(now));
            boolean mayBeSlow = !leaseEnd.isSet() && !outage.isOutage();
            delay = mayBeSlow ? Math.min(delay, connection.slowAt().until(now)) : delay;
        } else if (call != null) {
            delay = Math.min(delay, call.sentAt + ttl / 3 - now);
        } else {
            delay = Math.min(Math.min(delay, heartbeatAt - now), due.until(now));
        }
        return Math.clamp(delay, 0, ttl);
    }
}
