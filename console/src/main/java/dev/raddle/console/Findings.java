package dev.raddle.console;

import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Link;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is wrong, over all that is watched, the worst first. The sampler's thread computes it, once a second. */
final class Findings {

    private static final int MOST = 7;
    private static final long REST = 1_000; // milliseconds
    private static final int MOST_CHANGES = 20;

    /** The first screen. */
    record Page(List<Finding> findings, int more, int watched, List<Changes.Row> changes, History.Both history) {}

    record Summary(int count, @Nullable Level worst) {}

    private final Collection<Subject> subjects;
    private final Changes changes;
    private List<Finding> findings = List.of();
    private int more;
    private long computedAt;

    Findings(Collection<Subject> subjects, Changes changes) {
        this.subjects = subjects;
        this.changes = changes;
    }

    /** Computes the findings from the sample that was read last. */
    void update(long now) {
        if (now - computedAt < REST && now >= computedAt) {
            return;
        }
        computedAt = now;
        findings = new ArrayList<>();
        more = 0;
        subjects.forEach(subject -> subject.findWrong(now, this));
        findings.sort(Comparator.comparing(Finding::level)
                .thenComparingLong(finding -> finding.sinceAt() == null ? Long.MAX_VALUE : finding.sinceAt())
                .thenComparing(Finding::id));
    }

    void add(Finding finding) {
        findings.add(finding);
    }

    /** Adds a number of findings that are less bad than those of the same subject that were added. */
    void addLesser(int count) {
        more += count;
    }

    Summary summary() {
        return new Summary(
                findings.size() + more,
                findings.isEmpty() ? null : findings.getFirst().level());
    }

    Page page(long now, History.Both history) {
        int watched = subjects.stream().mapToInt(Subject::watched).sum();
        List<Changes.Row> recent = changes.latest(MOST_CHANGES, row -> row.isRecent(now));
        int shown = Math.min(MOST, findings.size());
        int others = more + findings.size() - shown;
        return new Page(findings.subList(0, shown), others, watched, recent, history);
    }

    /** Returns what is wrong with a group, the worst of it; null if nothing is. */
    @Nullable
    Finding of(Link group) {
        return findings.stream()
                .filter(finding -> group.equals(finding.link()))
                .findFirst()
                .orElse(null);
    }
}
