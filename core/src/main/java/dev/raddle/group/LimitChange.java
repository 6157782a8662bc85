package dev.raddle.group;

/**
 * A change of an adaptive limit.
 *
 * @param groupKey the key of the group
 * @param before the limit before the change
 * @param after the limit after the change
 * @param reason the measurements that led to it, such as {@code gradient 0.83: mean 24.1 ms against 20.0 ms}
 * @see AdaptiveLimit
 */
public record LimitChange(String groupKey, int before, int after, String reason) {

    /** Returns a sentence such as {@code limit 12 after 14, gradient 0.83: mean 24.1 ms against 20.0 ms}. */
    @Override
    public String toString() {
        return "limit " + after + " after " + before + ", " + reason;
    }
}
