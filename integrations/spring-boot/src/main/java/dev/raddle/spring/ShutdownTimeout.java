package dev.raddle.spring;

import dev.raddle.time.TimeSource;
import java.time.Duration;

/** How long a shutdown waits, and by which clock. Tests with a virtual time replace it. */
record ShutdownTimeout(Duration timeout, TimeSource time) {}
