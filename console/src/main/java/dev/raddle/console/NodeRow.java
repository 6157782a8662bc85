package dev.raddle.console;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A node of a run at one moment. */
record NodeRow(
        String state,
        @Nullable String group,
        @Nullable String why,
        boolean takesSignal,
        @Nullable String error,
        @Nullable Instant readyAt,
        @Nullable Instant startedAt,
        @Nullable Instant endedAt,
        Map<String, String> facts,
        @Nullable String text)
        implements RunView.Node {}
