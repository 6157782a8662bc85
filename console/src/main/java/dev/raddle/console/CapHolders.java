package dev.raddle.console;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Who holds the slots of a cap: the groups with the most, and groups with similar keys as one class. */
final class CapHolders {

    private static final int MOST = 5;
    private static final double STANDS_OUT = 0.25; // the share with which a group is named, whatever its key

    /** What differs between keys that are made for one use: numbers, and hexadecimal identifiers. */
    private static final Pattern COUNTED = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{2,})+|[0-9]+");

    private CapHolders() {}

    /**
     * Returns the holders among the groups of one executor, those with most slots first.
     *
     * @param running those that have running tasks
     * @param all the number of slots that are taken
     */
    static List<Finding.Holder> of(Stream<Groups.Member> running, int all) {
        Map<Object, List<Groups.Member>> classes = running.collect(Collectors.groupingBy(member -> {
            boolean standsOut = member.stats().activeCount() >= STANDS_OUT * all;
            return standsOut ? member.id() : classOf(member.id().key());
        }));
        return classes.values().stream()
                .map(members -> holder(members, all))
                .sorted(Comparator.comparingInt(Finding.Holder::slots)
                        .reversed()
                        .thenComparing(Finding.Holder::name))
                .limit(MOST)
                .toList();
    }

    private static Finding.Holder holder(List<Groups.Member> members, int all) {
        Groups.Member first = members.getFirst();
        boolean isOne = members.size() == 1;
        int slots = members.stream()
                .mapToInt(member -> member.stats().activeCount())
                .sum();
        return new Finding.Holder(
                Failures.cut(isOne ? first.id().key() : classOf(first.id().key())),
                isOne ? first.link() : null,
                slots,
                Math.round(100.0 * slots / all) / 100.0,
                members.stream()
                        .mapToInt(member -> member.state().weight())
                        .max()
                        .orElse(1),
                isOne ? null : members.size());
    }

    /** Returns whether a group is this holder, or one of its class. */
    static boolean contains(Finding.Holder holder, Groups.Member member) {
        return holder.groups() == null
                ? member.link().equals(holder.link())
                : Failures.cut(classOf(member.id().key())).equals(holder.name());
    }

    static String classOf(String key) {
        return COUNTED.matcher(key).replaceAll("…");
    }
}
