package dev.raddle.cli.file;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values for every group and task that does not set its own. */
record Defaults(
        GroupRule group,
        @Nullable Duration timeout,
        @Nullable Retry retry,
        Map<String, String> env,
        @Nullable String dir) {
    static final Defaults NONE = new Defaults(GroupRule.UNSET, null, null, Map.of(), null);
}
