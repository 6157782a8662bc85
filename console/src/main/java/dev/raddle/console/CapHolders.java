package dev.raddle.console;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Who holds the slots of a cap: the groups with the most, and groups with similar keys as one class. */
final class CapHolders {

    private static final int MOST = 5;
    private static final double STANDS_OUT = 0.25; // the share with which a group is named, whatever its key

    /** What differs between keys that are made for one use: numbers, and hexadecimal identifiers. */
    private static final Pattern COUNTED = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{2,})+|[0-9]+");

    private record Similar(int slots, int groups, int weight) {
        Similar plus(Similar other) {
            return new Similar(slots + other.slots, groups + other.groups, Math.max(weight, other.weight));
        }
    }

    private CapHolders() {}

    /** Returns the holders among the groups of one executor that have running tasks, those with most slots first. */
    static List<Finding.Holder> of(List<Groups.Member> running) {
        int all = running.stream()
                .mapToInt(member -> member.stats().activeCount())
                .sum();
        Map<String, Similar> classes = new HashMap<>();
        running.stream()
                .filter(member -> member.stats().activeCount() < STANDS_OUT * all)
                .forEach(member -> classes.merge(
                        classOf(member.id().key()),
                        new Similar(
                                member.stats().activeCount(), 1, member.state().weight()),
                        Similar::plus));
        List<Finding.Holder> holders = new ArrayList<>();
        for (Groups.Member member : running) {
            int slots = member.stats().activeCount();
            Similar similar = classes.get(classOf(member.id().key()));
            if (slots >= STANDS_OUT * all || similar == null || similar.groups == 1) {
                int weight = member.state().weight();
                holders.add(new Finding.Holder(
                        Failures.cut(member.id().key()), member.link(), slots, shareOf(slots, all), weight, null));
            }
        }
        classes.forEach((name, each) -> {
            if (each.groups > 1) {
                double share = shareOf(each.slots, all);
                holders.add(new Finding.Holder(Failures.cut(name), null, each.slots, share, each.weight, each.groups));
            }
        });
        holders.sort(Comparator.comparingInt(Finding.Holder::slots).reversed().thenComparing(Finding.Holder::name));
        return List.copyOf(holders.subList(0, Math.min(MOST, holders.size())));
    }

    private static double shareOf(int slots, int all) {
        return Math.round(100.0 * slots / all) / 100.0;
    }

    static String classOf(String key) {
        return COUNTED.matcher(key).replaceAll("…");
    }
}
