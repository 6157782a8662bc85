/** How do the pages of the repository become a site? Start at {@link dev.raddle.site.Site}. */
@NullMarked
package dev.raddle.site;

import org.jspecify.annotations.NullMarked;
