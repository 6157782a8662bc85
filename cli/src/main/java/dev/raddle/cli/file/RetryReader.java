package dev.raddle.cli.file;

import dev.raddle.cli.file.value.Backoff;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Values;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;

/** Reads {@code retry: 3} or {@code retry: { attempts: 3, backoff: 200ms..5s }}. */
final class RetryReader {
    private static final int MAX_ATTEMPTS = 1000;

    private final Problems problems;
    private final Values values;

    RetryReader(Problems problems) {
        this.problems = problems;
        this.values = new Values(problems);
    }

    /** Returns the policy of the file, or null if it has none or an invalid one. */
    @Nullable
    Retry read(@Nullable Node node) {
        if (node == null) {
            return null;
        }
        if (!(node instanceof MappingNode)) {
            Problems own = new Problems();
            Integer attempts = new Values(own).wholeNumber(node, "retry", 1, MAX_ATTEMPTS);
            if (attempts == null) {
                values.wrong(
                        node,
                        "retry must be a number of attempts from 1 to " + MAX_ATTEMPTS
                                + " or a map with attempts and backoff");
            }
            return attempts == null ? null : new Retry(attempts, Backoff.DEFAULT);
        }
        Section section = new Section(node, "retry", Keys.RETRY, problems);
        Node attempts = section.required("attempts");
        Integer number = attempts == null ? null : values.wholeNumber(attempts, "attempts", 1, MAX_ATTEMPTS);
        Node backoff = section.get("backoff");
        Backoff wait = backoff == null ? Backoff.DEFAULT : values.backoff(backoff, "backoff");
        return number == null || wait == null ? null : new Retry(number, wait);
    }
}
