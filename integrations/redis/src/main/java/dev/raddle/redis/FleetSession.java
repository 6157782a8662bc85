package dev.raddle.redis;

import dev.raddle.group.PermitSource;
import dev.raddle.group.PermitStatus;
import dev.raddle.task.ExceptionSink;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** One executor's session. The pump calls the executor through this, which reports exceptions of the executor. */
final class FleetSession implements PermitSource.Session {

    /*
     * Reports wait here until the pump takes them, the last one of each group. So they take no more memory than the
     * executor's groups, however slow the pump is.
     */

    private final Pump pump;
    private final PermitSource.Holder holder;
    private final ExceptionSink sink;
    private final ConcurrentHashMap<String, Demand> reports = new ConcurrentHashMap<>();

    /** One report. */
    record Demand(int wanted, int unused) {}

    FleetSession(Pump pump, PermitSource.Holder holder, ExceptionSink sink) {
        this.pump = pump;
        this.holder = holder;
        this.sink = sink;
    }

    /** What an executor did with a permit. */
    enum Outcome {
        ACCEPTED,
        REFUSED,
        FAILED
    }

    Outcome grant(String key, long fence) {
        return call(
                "grantOnce", Outcome.FAILED, () -> holder.grantOnce(key, fence) ? Outcome.ACCEPTED : Outcome.REFUSED);
    }

    /** Returns how many permits the first waiting task lacks, at least 1 and at most a number. */
    int neededAtOnce(String key, int most) {
        return call("neededAtOnce", 1, () -> Math.clamp(holder.neededAtOnce(key), 1, most));
    }

    PermitSource.Reclaimed reclaim(String key, int most) {
        return call("reclaim", PermitSource.Reclaimed.NONE, () -> holder.reclaim(key, most));
    }

    PermitSource.Reclaimed reclaimGathered(String key) {
        return call("reclaimGathered", PermitSource.Reclaimed.NONE, () -> holder.reclaimGathered(key));
    }

    void limit(String key, int limit) {
        call("limit", true, () -> {
            holder.limit(key, limit);
            return true;
        });
    }

    void revoke(String key, int permits, String reason) {
        call("revoke", true, () -> {
            holder.revoke(key, permits, reason);
            return true;
        });
    }

    private <T> T call(String method, T ifItFails, Supplier<T> call) {
        try {
            return call.get();
        } catch (Throwable failure) {
            sink.report(method + "() of an executor", failure);
            return ifItFails;
        }
    }

    @Override
    public void demand(String groupKey, int wanted, int unused) {
        if (reports.put(groupKey, new Demand(wanted, unused)) == null) {
            pump.post(() -> take(groupKey));
        }
    }

    private void take(String groupKey) {
        Demand last = reports.remove(groupKey);
        if (last != null) {
            pump.ledger().demand(this, groupKey, last.wanted(), last.unused());
        }
    }

    @Override
    public PermitStatus status(String groupKey) {
        return pump.statusOf(groupKey);
    }

    @Override
    public void close() {
        pump.post(() -> {
            reports.clear();
            pump.ledger().closeSession(this);
        });
    }
}
