package dev.raddle.cli.file;

/** A part of a run file with its name and place, for messages that come up later. */
record Located<T>(T value, String what, Location at) {}
