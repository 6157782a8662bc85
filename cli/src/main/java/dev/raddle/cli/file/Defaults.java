package dev.raddle.cli.file;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What holds for every group and task that says nothing else. */
record Defaults(
        GroupRule group,
        @Nullable Duration timeout,
        @Nullable Retry retry,
        Map<String, String> env,
        @Nullable String dir) {
    static final Defaults NONE = new Defaults(GroupRule.SILENT, null, null, Map.of(), null);
}
