package dev.raddle.checks.sample.internal;

/** Breaks the rule that no package is called internal. */
public final class Hidden {}
