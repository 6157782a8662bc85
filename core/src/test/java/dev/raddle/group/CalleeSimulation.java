package dev.raddle.group;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Clients with limits in front of one callee, as discrete events: each client has a queue and a limit, fixed or
 * adaptive; the callee has a number of servers with exponential service times, and one queue. No threads, no clock.
 */
final class CalleeSimulation {

    /** One group of tasks, with the limit that is in force. */
    static final class Client {
        final @Nullable Adaptation adaptation; // null if the limit is fixed
        final double arrivalsPerSecond; // 0 if the queue is never empty
        final int queueCapacity;
        int limit;
        int waiting;
        int inCallee;
        long started; // since the last call of reset
        long ended;
        long dropped;
        int[] runTimes = new int[1 << 12]; // in steps of a hundredth of the service time
        double limitSum; // over time
        double runSum;
        String reason = "";

        Client(AdaptiveLimit plan, double arrivalsPerSecond, int queueCapacity) {
            this.adaptation = new Adaptation(plan, plan.initial, Integer.MAX_VALUE);
            this.limit = adaptation.steady();
            this.arrivalsPerSecond = arrivalsPerSecond;
            this.queueCapacity = queueCapacity;
        }

        Client(int limit, double arrivalsPerSecond, int queueCapacity) {
            this.adaptation = null;
            this.limit = limit;
            this.arrivalsPerSecond = arrivalsPerSecond;
            this.queueCapacity = queueCapacity;
        }

        static Client saturated(AdaptiveLimit plan) {
            return new Client(plan, 0, 0);
        }

        void reset() {
            started = 0;
            ended = 0;
            dropped = 0;
            limitSum = 0;
            runSum = 0;
            Arrays.fill(runTimes, 0);
        }

        /** Returns a quantile of the run times since the last reset, in service times. */
        double quantile(double part) {
            long left = (long) Math.ceil(ended * part);
            for (int i = 0; i < runTimes.length; i++) {
                left -= runTimes[i];
                if (left <= 0) {
                    return i / 100.0;
                }
            }
            return Double.POSITIVE_INFINITY;
        }
    }

    final Client[] clients;
    private final SplittableRandom random;
    private final DoubleUnaryOperator serviceSeconds; // by the time in seconds
    private final DoubleUnaryOperator servers;
    private final int roomInCallee; // calls that may wait there; others are refused
    double now; // in seconds

    private double[] busySince = new double[1024]; // when the call entered the callee
    private int[] busyClient = new int[1024];
    private int busy;
    private double[] queueSince = new double[1 << 16]; // a ring
    private int[] queueClient = new int[1 << 16];
    private int queueHead;
    private int queueLength;

    CalleeSimulation(
            long seed,
            DoubleUnaryOperator serviceSeconds,
            DoubleUnaryOperator servers,
            int roomInCallee,
            Client... clients) {
        this.random = new SplittableRandom(seed);
        this.serviceSeconds = serviceSeconds;
        this.servers = servers;
        this.roomInCallee = roomInCallee;
        this.clients = clients;
    }

    /** Runs until a moment, and calls an action at the end of each period. */
    void run(double until, double period, Runnable atEachPeriod) {
        for (double next = now + period; next <= until + 1e-9; next += period) {
            runUntil(next);
            atEachPeriod.run();
        }
    }

    void runUntil(double until) {
        double service = serviceSeconds.applyAsDouble(now);
        double nextLook = now; // at the parameters that change slowly
        for (int i = 0; i < clients.length; i++) {
            fill(clients[i], i);
        }
        while (true) {
            if (now >= nextLook) {
                service = serviceSeconds.applyAsDouble(now);
                nextLook = now + 0.05;
                startWaiting();
            }
            double arrivals = 0;
            for (Client client : clients) {
                arrivals += client.arrivalsPerSecond;
            }
            double rate = arrivals + busy / service; // exponential times have no memory
            double step = rate == 0 ? 0.05 : -StrictMath.log(1 - random.nextDouble()) / rate;
            double end = Math.min(until, nextLook);
            if (now + step >= end) {
                account(end - now);
                now = end;
                if (now >= until) {
                    return;
                }
                continue;
            }
            account(step);
            now += step;
            double which = random.nextDouble() * rate;
            if (which < arrivals) {
                arrive(which);
            } else {
                finish((int) Math.min(busy - 1, (which - arrivals) * service), service);
            }
        }
    }

    private void account(double step) {
        for (Client client : clients) {
            client.limitSum += client.limit * step;
        }
    }

    private void arrive(double which) {
        double left = which;
        for (int i = 0; i < clients.length; i++) {
            Client client = clients[i];
            left -= client.arrivalsPerSecond;
            if (left < 0) {
                if (client.inCallee < client.limit && client.waiting == 0) {
                    call(client, i);
                } else if (client.waiting < client.queueCapacity) {
                    client.waiting++;
                }
                return;
            }
        }
    }

    private void finish(int server, double service) {
        double since = busySince[server];
        int index = busyClient[server];
        busy--;
        busySince[server] = busySince[busy];
        busyClient[server] = busyClient[busy];
        startWaiting();
        end(clients[index], index, since, service, false);
    }

    private void end(Client client, int index, double since, double service, boolean dropped) {
        double ran = now - since;
        boolean isNear = client.inCallee >= client.limit - client.limit / 4;
        int running = client.inCallee--;
        if (dropped) {
            client.dropped++;
        } else {
            client.ended++;
            client.runSum += ran;
            client.runTimes[(int) Math.min(client.runTimes.length - 1, ran / service * 100)]++;
        }
        Adaptation adaptation = client.adaptation;
        long moment = (long) (now * 1e9);
        if (adaptation != null
                && adaptation.record(
                        this,
                        dropped ? Adaptation.Kind.DROPPED : Adaptation.Kind.RAN,
                        Math.max(1, (long) (ran * 1e9)),
                        moment,
                        running,
                        isNear)) {
            Adaptation.Decision decision = adaptation.decide(client.limit, moment);
            if (decision != null) {
                client.limit = decision.limit();
                client.reason = decision.reason();
            }
            adaptation.endDecision(this);
        }
        fill(client, index);
    }

    private void fill(Client client, int index) {
        while (client.inCallee < client.limit && (client.waiting > 0 || client.arrivalsPerSecond == 0)) {
            if (client.arrivalsPerSecond > 0) {
                client.waiting--;
            }
            int before = client.inCallee;
            call(client, index);
            if (client.inCallee == before) {
                return; // refused
            }
        }
    }

    private void call(Client client, int index) {
        client.started++;
        client.inCallee++;
        if (queueLength == 0 && busy < servers.applyAsDouble(now)) {
            busySince[busy] = now;
            busyClient[busy++] = index;
        } else if (queueLength >= roomInCallee) {
            refuse(client);
        } else {
            int tail = (queueHead + queueLength++) & (queueSince.length - 1);
            queueSince[tail] = now;
            queueClient[tail] = index;
        }
    }

    /** A refused call takes a millisecond in reality; here it ends at once, and the client waits for the next event. */
    private void refuse(Client client) {
        client.inCallee--;
        client.dropped++;
        Adaptation adaptation = client.adaptation;
        if (adaptation != null
                && adaptation.record(this, Adaptation.Kind.DROPPED, 1, (long) (now * 1e9), client.limit, true)) {
            Adaptation.Decision decision = adaptation.decide(client.limit, (long) (now * 1e9));
            if (decision != null) {
                client.limit = decision.limit();
                client.reason = decision.reason();
            }
            adaptation.endDecision(this);
        }
    }

    private void startWaiting() {
        while (queueLength > 0 && busy < servers.applyAsDouble(now)) {
            busySince[busy] = queueSince[queueHead];
            busyClient[busy++] = queueClient[queueHead];
            queueHead = (queueHead + 1) & (queueSince.length - 1);
            queueLength--;
        }
    }
}
