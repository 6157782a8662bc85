package dev.raddle.redis;

import dev.raddle.group.PermitSource;
import dev.raddle.group.PermitStatus;
import java.util.concurrent.ConcurrentHashMap;

/** One executor's session. */
final class FleetSession implements PermitSource.Session {

    /*
     * Reports wait here until the pump takes them, the last one of each group. So they take no more memory than the
     * executor's groups, however slow the pump is.
     */

    private final Pump pump;
    private final PermitSource.Holder holder;
    private final ConcurrentHashMap<String, Demand> reports = new ConcurrentHashMap<>();

    /** One report. */
    record Demand(int wanted, int unused) {}

    FleetSession(Pump pump, PermitSource.Holder holder) {
        this.pump = pump;
        this.holder = holder;
    }

    PermitSource.Holder holder() {
        return holder;
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
