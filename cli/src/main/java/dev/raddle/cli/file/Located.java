package dev.raddle.cli.file;

import dev.raddle.cli.file.value.Location;

/** A part of a run file with its name and location, for later messages. */
record Located<T>(T value, String what, Location at) {}
