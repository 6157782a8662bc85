package dev.raddle.group;

/** Where a run is executed that is not started on a thread of its group's scheduler, or for which API. */
sealed interface Placement permits CallerThread, PlacedTask {}
