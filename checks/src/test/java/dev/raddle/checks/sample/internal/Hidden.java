package dev.raddle.checks.sample.internal;

/** Breaks the rule that no package is internal. */
public final class Hidden {}
