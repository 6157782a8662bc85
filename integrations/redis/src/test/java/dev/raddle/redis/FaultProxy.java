package dev.raddle.redis;

import dev.raddle.processes.Await;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A TCP proxy on a loopback port that damages connections as its methods are called. Nothing happens by chance.
 */
final class FaultProxy implements AutoCloseable {

    /** The two ways through a connection. */
    enum Direction {
        TO_SERVER,
        TO_CLIENT
    }

    /*
     * Overview.
     *
     * A link is one connection: two sockets, and a thread for each direction that reads a chunk, passes the lane's
     * hurdles and writes it. A lane has the state of one direction, for all links:
     *
     *   open     a chunk waits until it is open; what waits is not lost, as in a network that repeats lost packets
     *   delay    the time that each chunk waits
     *   budget   the number of bytes that may pass before the link breaks in the middle of the stream; negative: no
     *            bound
     *   repeat   the next chunk passes, then its first `repeat` percent pass again, then the link breaks
     *
     * Only break() ends a link, by closing both sockets, which ends both threads.
     */
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final Lane toServer = new Lane();
    private final Lane toClient = new Lane();
    private final AtomicLong accepted = new AtomicLong();
    private volatile int target;
    private volatile boolean refusing;

    FaultProxy(int target) {
        this.target = target;
        try {
            listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::acceptAll);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Returns how many connections were accepted so far. */
    long accepted() {
        return accepted.get();
    }

    /** Leads new connections to another server, and breaks those that there are. */
    void lead(int newTarget) {
        target = newTarget;
        cut();
    }

    /** Breaks all connections. New ones are accepted. */
    void cut() {
        links.forEach(Link::breakOff);
    }

    /** Breaks all connections and lets no new one live. */
    void refuse() {
        refusing = true;
        cut();
    }

    /** Lets new connections live again. */
    void accept() {
        refusing = false;
    }

    /** Holds all bytes of a direction back; the connections remain. */
    void silence(Direction direction) {
        lane(direction).setOpen(false);
    }

    /** Forwards what was held back, and all that follows. */
    void forward(Direction direction) {
        lane(direction).setOpen(true);
    }

    /** Delays every chunk of a direction. */
    void delay(Direction direction, Duration time) {
        lane(direction).delay = time;
    }

    /** Lets so many more bytes pass in a direction, and breaks the connection that would pass the next one. */
    void cutAfter(Direction direction, int bytes) {
        lane(direction).setBudget(bytes);
    }

    /**
     * Sends the next chunk of a direction, then the beginning of it once more, then breaks that connection.
     *
     * @param percent the part of the chunk to repeat: 0 breaks just after the chunk, 100 repeats it all
     */
    void repeat(Direction direction, int percent) {
        lane(direction).setRepeat(percent);
    }

    /** Ends all faults that last. Connections that are broken remain so. */
    void heal() {
        for (Direction direction : Direction.values()) {
            lane(direction).heal();
        }
        accept();
    }

    private Lane lane(Direction direction) {
        return direction == Direction.TO_SERVER ? toServer : toClient;
    }

    private void acceptAll() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                accepted.incrementAndGet();
                Thread.ofVirtual().start(() -> connect(client));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void connect(Socket client) {
        Socket server = new Socket();
        Link link = new Link(client, server);
        links.add(link);
        try {
            if (refusing || listener.isClosed()) {
                link.breakOff();
                return;
            }
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
            Thread.ofVirtual().start(() -> link.pump(client, server, toServer));
            Thread.ofVirtual().start(() -> link.pump(server, client, toClient));
        } catch (IOException e) {
            link.breakOff();
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        refuse();
        heal();
    }

    /** The state of one direction. */
    private static final class Lane {
        private static final int UNBOUNDED = -1;

        private boolean open = true; // guarded by this
        private int budget = UNBOUNDED; // guarded by this
        private int repeat = UNBOUNDED; // in percent; guarded by this
        private volatile Duration delay = Duration.ZERO;

        synchronized void setOpen(boolean value) {
            open = value;
            notifyAll();
        }

        synchronized void setBudget(int bytes) {
            budget = bytes;
        }

        synchronized void setRepeat(int percent) {
            repeat = percent;
        }

        synchronized void heal() {
            budget = UNBOUNDED;
            repeat = UNBOUNDED;
            delay = Duration.ZERO;
            setOpen(true);
        }

        synchronized void awaitOpen() throws InterruptedException {
            while (!open) {
                wait();
            }
        }

        /** Takes from the budget, and returns how many of the bytes may pass: fewer than given breaks the link. */
        synchronized int take(int bytes) {
            if (budget == UNBOUNDED) {
                return bytes;
            }
            int passing = Math.min(budget, bytes);
            budget = passing < bytes ? UNBOUNDED : budget - passing;
            return passing;
        }

        /** Returns how many percent of this chunk to repeat, once, or a negative number. */
        synchronized int takeRepeat() {
            int percent = repeat;
            repeat = UNBOUNDED;
            return percent;
        }
    }

    /** One connection. */
    private final class Link {
        private final Socket client;
        private final Socket server;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void pump(Socket from, Socket to, Lane lane) {
            byte[] chunk = new byte[16 * 1024];
            try {
                InputStream in = from.getInputStream();
                for (int n; (n = in.read(chunk)) > 0; ) {
                    Duration delay = lane.delay;
                    if (!delay.isZero()) {
                        Await.pass(delay);
                    }
                    lane.awaitOpen();
                    if (!pass(chunk, n, to, lane)) {
                        break;
                    }
                }
            } catch (IOException | InterruptedException e) {
                // The link ends below.
            } finally {
                breakOff();
            }
        }

        private boolean pass(byte[] chunk, int length, Socket to, Lane lane) throws IOException {
            int repeat = lane.takeRepeat();
            int passing = lane.take(length);
            to.getOutputStream().write(chunk, 0, passing);
            if (repeat >= 0) {
                to.getOutputStream().write(chunk, 0, (int) ((long) passing * repeat / 100));
            }
            return passing == length && repeat < 0;
        }

        void breakOff() {
            links.remove(this);
            for (Socket socket : new Socket[] {client, server}) {
                try {
                    socket.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }
}
