package dev.raddle.group;

/** Who has submitted a run that was not submitted to the executor: a caller that executes it itself, or another API. */
sealed interface Origin permits CallerThread, PlacedTask {}
