package dev.raddle.redis;

import dev.raddle.time.TimeSource;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The link to the server, and the attempts to open one. Owned by the thread of the mailbox. */
final class Connection {

    /*
     * Overview.
     *
     * An attempt to connect runs in a thread of its own until it ends. One that began while the network was away may
     * wait for long after it is back, so another one begins every half second, and the first to succeed counts. After
     * a failure the next one begins after a pause, which grows until a call is answered.
     *
     * When this ends, the connections are closed after the last attempt, so that none is opened with a client that was
     * closed; then the mailbox ends.
     */

    private static final long SHORTEST_PAUSE = 10_000_000;
    private static final long LONGEST_PAUSE = 500_000_000; // between attempts, or their beginnings
    private static final long SLOW = 2_000_000_000;
    private static final int MOST_ATTEMPTS = 32; // at a time
    private static final String OWN_ERROR = "RADDLE "; // begins an error of the script

    private final Server server;
    private final Keys keys;
    private final String channel;
    private final TimeSource time;
    private final long ttl; // in nanoseconds
    private final Mailbox mailbox;
    private final Consumer<String> onMessage;
    private final Consumer<String> onFailure;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final List<CompletableFuture<Link>> waiting = new ArrayList<>(); // for a link

    private @Nullable Link link;
    private @Nullable Object connecting; // the latest attempt, if it is under way
    private int attempts; // that have not ended
    private long since; // the begin of the first attempt after the last result, if connecting != null
    private long nextAttempt;
    private int failures; // since the last answer
    private boolean isEnding;

    /**
     * Creates a connection without a link.
     *
     * @param onMessage receives the messages of the channel
     * @param onFailure receives the reason when the link was lost, or none could be opened
     */
    Connection(
            FleetOptions options,
            Server server,
            String channel,
            Mailbox mailbox,
            Consumer<String> onMessage,
            Consumer<String> onFailure) {
        this.server = server;
        this.keys = new Keys(options.namespace());
        this.channel = channel;
        this.time = options.timeSource();
        this.ttl = options.lease().toNanos();
        this.mailbox = mailbox;
        this.onMessage = onMessage;
        this.onFailure = onFailure;
        nextAttempt = time.nanoTime();
    }

    /** Returns the link, which may be lost, or null if there is none. */
    @Nullable
    Link link() {
        return link;
    }

    /** Returns the next link that is open, for any thread; fails if the server refuses this user. */
    CompletableFuture<Link> next() {
        CompletableFuture<Link> result = new CompletableFuture<>();
        boolean isOpen = mailbox.post(() -> {
            waiting.removeIf(CompletableFuture::isDone);
            if (isEnding) {
                result.completeExceptionally(closed());
            } else if (link != null && link.isConnected()) {
                result.complete(link);
            } else {
                waiting.add(result);
            }
        });
        if (!isOpen) {
            result.completeExceptionally(closed());
        }
        return result;
    }

    private static FleetException closed() {
        return new FleetException("the fleet was closed");
    }

    /** Begins an attempt to connect if there is no link, and one is due. */
    void connectIfDue(long now) {
        if (link == null && attempts < MOST_ATTEMPTS && now - nextAttempt >= 0) {
            connect(now);
        }
    }

    private void connect(long now) {
        Object attempt = new Object();
        since = connecting == null ? now : since;
        connecting = attempt;
        nextAttempt = now + LONGEST_PAUSE;
        Thread.ofVirtual().name("raddle-fleet-connect").start(() -> {
            try {
                Link opened = server.connect(
                        keys,
                        channel,
                        text -> mailbox.post(() -> onMessage.accept(text)),
                        () -> mailbox.post(this::lossNoticed));
                mailbox.post(() -> connected(opened));
            } catch (Throwable failure) {
                mailbox.post(() -> notConnected(attempt, failure));
            }
        });
        attempts++;
    }

    /** A connection was lost: that of the link, or one that was closed by this instance. */
    private void lossNoticed() {
        if (!isEnding && link != null && !link.isConnected()) {
            onFailure.accept("the connection was closed");
        }
    }

    private void connected(Link opened) {
        attempts--;
        if (isEnding || link != null) {
            CompletableFuture<Void> ignored =
                    opened.close().whenComplete((any, failure) -> mailbox.post(this::closeIfEnding));
            return;
        }
        connecting = null;
        link = opened;
        takeWaiting().forEach(each -> each.complete(opened));
    }

    private void notConnected(Object attempt, Throwable failure) {
        attempts--;
        closeIfEnding();
        if (!isEnding && connecting == attempt) {
            connecting = null;
            if (isRefusal(failure)) {
                takeWaiting().forEach(each -> each.completeExceptionally(new FleetException(textOf(failure))));
            }
            onFailure.accept(textOf(failure));
        }
    }

    private List<CompletableFuture<Link>> takeWaiting() {
        List<CompletableFuture<Link>> taken = List.copyOf(waiting);
        waiting.clear();
        return taken;
    }

    /** Notes that the server has answered a call. */
    void answered() {
        failures = 0;
    }

    /** Gives the link up after a failure. The next attempt begins after a pause. */
    void fail(long now) {
        long pause = Math.min(LONGEST_PAUSE, SHORTEST_PAUSE << Math.min(failures, 10));
        failures++;
        giveUp(now + Math.min(pause, ttl / 3));
    }

    /** Gives the link up. The next attempt begins at a moment. */
    void giveUp(long retryAt) {
        if (link != null) {
            CompletableFuture<Void> ignored = link.close();
            link = null;
        }
        retryAt(retryAt);
    }

    /** Lets the next attempt begin at a moment, unless one is under way. */
    void retryAt(long moment) {
        nextAttempt = connecting == null ? moment : nextAttempt;
    }

    /** Returns the time after which an attempt is so slow that an outage begins. */
    long slow() {
        return Math.max(ttl, SLOW);
    }

    /** Returns the moment at which the attempt under way becomes slow, if there is one. */
    Moment slowAt() {
        return connecting == null ? Moment.NONE : Moment.at(since + slow());
    }

    /** Returns the moment of the next attempt, if there is no link. */
    Moment attemptAt() {
        return link == null && attempts < MOST_ATTEMPTS ? Moment.at(nextAttempt) : Moment.NONE;
    }

    /** Closes the connections, then completes {@link #ended}. */
    void end() {
        isEnding = true;
        takeWaiting().forEach(each -> each.completeExceptionally(closed()));
        closeIfEnding();
    }

    CompletableFuture<Void> ended() {
        return ended;
    }

    private void closeIfEnding() {
        if (isEnding && attempts == 0) {
            CompletableFuture<Void> ignored = server.close(link).whenComplete((any, failure) -> ended.complete(null));
            mailbox.close();
        }
    }

    /**
     * Returns whether the server does not accept this user or its password, or a class is missing, which another
     * attempt would not change.
     */
    private static boolean isRefusal(Throwable failure) {
        String text = textOf(failure);
        return failure instanceof LinkageError
                || text.startsWith("WRONGPASS")
                || text.startsWith("NOAUTH")
                || text.startsWith("NOPERM");
    }

    /** Returns what a failure says, without what may be a password. */
    static String textOf(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException
                        || cause instanceof ExecutionException
                        || cause instanceof RedisConnectionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = cause.getMessage();
        return cause instanceof RedisCommandExecutionException && message != null
                ? withoutAdditions(message)
                : cause.toString();
    }

    /**
     * Returns an error of the server without the place in the script, and without the arguments of a command that the
     * server does not know, which may be a password.
     */
    private static String withoutAdditions(String message) {
        int own = message.indexOf(OWN_ERROR);
        String text = own < 0 ? message : message.substring(own + OWN_ERROR.length());
        int place = own < 0 ? -1 : text.lastIndexOf(" script: ");
        int arguments = text.indexOf(", with args beginning with");
        int end = place >= 0 ? place : arguments;
        return end < 0 ? text : text.substring(0, end);
    }
}
