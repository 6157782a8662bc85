package dev.raddle.group;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link PermitSource} knows about the permits of a group. It may be out of date.
 *
 * @param limit the number of permits that all JVMs share, or 0 if it is unknown
 * @param position the position of this JVM among those that wait for a permit, from 1; 0 if it is unknown or does not
 *     wait
 * @param holders the JVMs that hold permits, those with the most permits first; may be incomplete
 * @param obstacle why nothing is granted at present, such as an outage; null if permits that are free are granted
 */
public record PermitStatus(
        int limit,
        int position,
        List<Holding> holders,
        @Nullable String obstacle) {

    /** Nothing is known. */
    public static final PermitStatus UNKNOWN = new PermitStatus(0, 0, List.of());

    /**
     * Creates a status.
     *
     * @param limit the number of permits that all JVMs share, or 0
     * @param position the position of this JVM among those that wait, or 0
     * @param holders the JVMs that hold permits; copied
     * @param obstacle why nothing is granted at present, or null
     */
    public PermitStatus {
        holders = List.copyOf(holders);
    }

    /**
     * Creates a status without an obstacle.
     *
     * @param limit the number of permits that all JVMs share, or 0
     * @param position the position of this JVM among those that wait, or 0
     * @param holders the JVMs that hold permits; copied
     */
    public PermitStatus(int limit, int position, List<Holding> holders) {
        this(limit, position, holders, null);
    }

    /** Describes a wait, such as {@code 1 of 3 permits of the fleet, 2nd in line, held by pod-7 for 4 s}. */
    String describe(int wanted) {
        return describePermits(wanted) + (obstacle == null ? "" : ": " + obstacle);
    }

    private String describePermits(int wanted) {
        String permits =
                limit == 0 ? wanted + (wanted == 1 ? " permit" : " permits") : wanted + " of " + limit + " permits";
        String line = position == 0 ? "" : ", " + ordinal(position) + " in line";
        if (holders.isEmpty()) {
            return permits + " of the fleet" + line;
        }
        Holding first = holders.getFirst();
        int others = holders.size() - 1;
        return permits + " of the fleet" + line + ", held by " + first.instance + " for "
                + first.held.toSeconds() + " s"
                + switch (others) {
                    case 0 -> "";
                    case 1 -> " and by another JVM";
                    default -> " and by " + others + " other JVMs";
                };
    }

    private static String ordinal(int number) {
        boolean isTeen = number / 10 % 10 == 1;
        return number
                + switch (isTeen ? 0 : number % 10) {
                    case 1 -> "st";
                    case 2 -> "nd";
                    case 3 -> "rd";
                    default -> "th";
                };
    }

    /**
     * The permits of one JVM.
     *
     * @param instance the name of the JVM
     * @param permits the number of permits
     * @param held the time for which it has held at least one
     */
    public record Holding(String instance, int permits, Duration held) {}
}
