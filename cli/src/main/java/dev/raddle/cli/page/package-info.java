/**
 * A run on one page for a browser. Start at {@link dev.raddle.cli.page.RunPage}.
 *
 * <p>The page holds everything it shows, and asks no network for anything. What commands printed is data in it, never
 * markup: it is embedded as JSON without the character {@code <}, and put on the screen as text.
 */
@NullMarked
package dev.raddle.cli.page;

import org.jspecify.annotations.NullMarked;
