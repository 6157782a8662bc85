/**
 * A page for a browser that shows what runs in this JVM now, and why the rest waits. Start at
 * {@link dev.raddle.console.Console}.
 *
 * <p>It reads what the core exports: statistics, explanations and listeners. While no browser looks, nothing is read,
 * and only the listeners cost anything. Nothing is null unless stated otherwise, and every class is thread-safe.
 */
package dev.raddle.console;
