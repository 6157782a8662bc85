package dev.raddle.console;

import static dev.raddle.console.Finding.counted;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is wrong, over all that is watched, the worst first. The sampler's thread computes it, once a second. */
final class Findings {

    static final int MOST = 7;
    private static final long REST = 1_000; // milliseconds
    private static final long OLD = 60_000; // a scope or a run that has been open for so long
    private static final int MANY_SCOPES = 5; // of one name
    private static final int RISE = 10; // failures in a minute
    private static final int MOST_CHANGES = 20;
    private static final long RECENT = 3_600_000;

    /** The first screen. */
    record Page(
            List<Finding> findings,
            int more,
            int watched,
            List<Changes.Row> changes,
            List<Finding.Task> running,
            History.Both history) {}

    record Summary(int count, @Nullable Level worst) {}

    /** The subjects, by the classes that know them. */
    record Subjects(
            Groups groups,
            Pools pools,
            Flows flows,
            Scopes scopes,
            Fleets fleets,
            Durable durable,
            Failures failures,
            Changes changes,
            TaskRefs refs) {}

    private final Subjects all;
    private List<Finding> findings = List.of();
    private List<Finding.Task> running = List.of();
    private int more;
    private long computedAt;

    Findings(Subjects all) {
        this.all = all;
    }

    /** Computes the findings from the sample that was read last. */
    void update(long now) {
        if (now - computedAt < REST && now >= computedAt) {
            return;
        }
        computedAt = now;
        List<Finding> found = new ArrayList<>();
        GroupFindings ofGroups = new GroupFindings(all.groups, all.changes, all.refs, now);
        more = ofGroups.addTo(found);
        running = ofGroups.running(found::add);
        all.pools.stuckRows(now).forEach((name, rows) -> found.add(ofPool(name, rows)));
        all.groups.runTimes().forEach((name, times) -> addSlower(name, times, now, found));
        addScopes(now, found);
        addRuns(now, found);
        all.fleets.rows(now).fleets().forEach((name, fleet) -> addFleet(name, fleet, found));
        addDurable(now, found);
        all.failures.rising(now, RISE).forEach((id, row) -> found.add(ofFailures(id, row)));
        found.sort(Comparator.comparing(Finding::level)
                .thenComparingLong(finding -> finding.sinceAt() == null ? Long.MAX_VALUE : finding.sinceAt())
                .thenComparing(Finding::id));
        more += Math.max(0, found.size() - MOST);
        findings = List.copyOf(found.subList(0, Math.min(MOST, found.size())));
    }

    Summary summary() {
        return new Summary(
                findings.size() + more,
                findings.isEmpty() ? null : findings.getFirst().level());
    }

    Page page(long now) {
        List<Changes.Row> changes = all.changes.latest(MOST_CHANGES, row -> now - row.at() < RECENT);
        return new Page(findings, more, watched(now), changes, running, all.groups.total());
    }

    private int watched(long now) {
        return all.groups.executorRows().size()
                + all.pools.pools.all().size()
                + all.flows.runs().size()
                + all.scopes.summary().count()
                + all.fleets.summary().count()
                + all.durable.summary(now).count();
    }

    private static Finding ofPool(String name, List<Pools.StuckRow> stuck) {
        Pools.StuckRow longest = stuck.getFirst(); // sorted
        Map<String, Integer> equal = new HashMap<>();
        stuck.forEach(row -> equal.merge(row.stack(), 1, Integer::sum));
        Map.Entry<String, Integer> most =
                equal.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
        long queued = longest.queued() == null ? 0 : longest.queued();
        boolean waitForResults = stuck.stream().allMatch(Pools.StuckRow::waitsForResult);
        Draft draft = new Draft("pool", Level.stuck, name);
        draft.text("Pool ").name(name, Link.to("pools")).text(": " + counted(stuck.size(), "task"));
        draft.text(stuck.size() == 1 ? " is stuck, " : " are stuck, ").name(longest.task(), Link.to("pools"));
        draft.text(" for ").since(longest.ranSinceAt()).text("; %,d more are queued.".formatted(queued));
        if (waitForResults && queued > 0) {
            draft.text(" They wait for tasks that are queued here");
            draft.text(most.getValue() > 1 ? ", %,d in the same place.".formatted(most.getValue()) : ".");
        }
        return draft.beganAt(longest.ranSinceAt())
                .link(Link.to("pools"))
                .tasks(List.of(), most.getKey())
                .done();
    }

    private static void addSlower(String name, RunTimes times, long now, List<Finding> found) {
        RunTimes.Slower slower = times.slower(now);
        if (slower != null) {
            Link link = Link.ofGroup(name, slower.owner());
            Draft draft = new Draft("slower", Level.slow, name);
            draft.text("The tasks of group ")
                    .name(slower.owner(), link)
                    .text(" of ")
                    .text(name)
                    .text(" take ");
            draft.millis(slower.nowMillis()).text(" now; ten minutes ago they took ");
            found.add(draft.millis(slower.beforeMillis())
                    .text(".")
                    .beganAt(slower.beforeAt())
                    .link(link)
                    .done());
        }
    }

    private void addScopes(long now, List<Finding> found) {
        for (Scopes.Open open : all.scopes.byName()) {
            if (open.count() >= MANY_SCOPES && now - open.oldestAt() >= OLD) {
                Draft draft = new Draft("scopes", Level.note, open.name());
                draft.text(counted(open.count(), "scope") + " named ").name(open.name(), Link.to("scopes"));
                draft.text(" are open, the oldest for ").since(open.oldestAt());
                draft.text(", opened in " + open.place() + ".");
                found.add(draft.beganAt(open.oldestAt()).link(Link.to("scopes")).done());
            }
        }
    }

    private void addRuns(long now, List<Finding> found) {
        all.flows.runs().forEach((id, run) -> {
            Finding finding = Flows.findingOf(run, new Link("flow", Map.of("id", id)), now - OLD);
            if (finding != null) {
                found.add(finding);
            }
        });
    }

    private static void addFleet(String name, Fleets.Row fleet, List<Finding> found) {
        Link link = Link.to("fleet");
        if (!fleet.up()) {
            Draft draft = new Draft("down", Level.stuck, "fleet " + name);
            draft.text("Fleet ").name(name, link).text(" is out of touch with its server");
            found.add(draft.text(fleet.problem() == null ? "." : ": " + fleet.problem())
                    .link(link)
                    .done());
        }
        fleet.instances().forEach((instance, row) -> {
            if (row.heardAt() != null) {
                Draft draft = new Draft("fleet", Level.slow, name + " " + instance);
                draft.text("Instance ").name(instance, link).text(" of fleet ").name(name, link);
                draft.text(" was not heard of for ").since(row.heardAt()).text(". It holds ");
                draft.text(counted(fleet.permitsOf(instance), "permit") + ", which come back in ");
                found.add(draft.until(row.leaseUntilAt())
                        .text(".")
                        .beganAt(row.heardAt())
                        .link(link)
                        .done());
            }
        });
    }

    private void addDurable(long now, List<Finding> found) {
        Durable.Summary summary = all.durable.summary(now);
        Link link = Link.to("durable");
        if (summary.stuck() > 0) {
            Draft draft = new Draft("run", Level.stuck, "durable");
            draft.text(counted(summary.stuck(), "durable run") + (summary.stuck() == 1 ? " needs" : " need"));
            found.add(draft.text(" a person.").link(link).done());
        }
        if (summary.down() > 0) {
            Draft draft = new Draft("down", Level.stuck, "durable");
            draft.text("The database of " + counted(summary.down(), "service") + " of durable runs does not answer.");
            found.add(draft.link(link).done());
        }
    }

    private static Finding ofFailures(String id, Failures.Rise rise) {
        Link link = Link.to("failures");
        Draft draft = new Draft("failures", Level.slow, id);
        draft.text(counted(rise.now(), "failure")
                + " in the last minute, and %,d in the one before: ".formatted(rise.before()));
        draft.name(rise.message(), link);
        return draft.beganAt(rise.sinceAt()).link(link).done();
    }
}
