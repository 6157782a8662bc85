package dev.raddle.flow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * A small flow with random edges and random behaviour. Nodes are numbers, upstreams before their dependents.
 *
 * @param nodes the dependencies and behaviour of each node
 * @param output the requested output, or -1
 * @param only the targets; empty for all
 * @param failFast whether the first failure ends the run
 * @param interruptObsolete whether a running node that has become unneeded is interrupted
 */
record RandomFlow(List<Spec> nodes, int output, List<Integer> only, boolean failFast, boolean interruptObsolete) {

    /** The kind of a clause. */
    enum Kind {
        MUST,
        ORDER,
        OPTIONAL,
        AFTER,
        CHOICE
    }

    /** The behaviour of a default or a fallback. */
    enum Extra {
        NONE,
        VALUE,
        NULL,
        THROWS
    }

    /** The condition of a node and its result. */
    enum Condition {
        NONE,
        TRUE,
        FALSE,
        THROWS
    }

    /**
     * One clause.
     *
     * @param kind the kind of the clause
     * @param successes the required number of successes, of a choice
     * @param upstreams one upstream, or several of a choice
     */
    record Clause(Kind kind, int successes, List<Integer> upstreams) {
        @Override
        public String toString() {
            return kind.name().toLowerCase() + (kind == Kind.CHOICE ? " " + successes + " of " : " ") + upstreams;
        }
    }

    /**
     * One node.
     *
     * @param clauses the dependencies
     * @param failures the number of attempts that fail
     * @param retries the number of further attempts
     * @param error whether attempts fail with an Error, which is not retried
     * @param nullValue whether its value is null
     * @param condition the condition
     * @param defaultValue the default
     * @param fallback the fallback
     * @param essential whether the node is essential
     * @param timeoutSeconds the timeout, or 0
     * @param badCallbacks whether its callbacks throw
     * @param undo whether it can be undone
     */
    record Spec(
            List<Clause> clauses,
            int failures,
            int retries,
            boolean error,
            boolean nullValue,
            Condition condition,
            Extra defaultValue,
            Extra fallback,
            boolean essential,
            int timeoutSeconds,
            boolean badCallbacks,
            boolean undo) {

        static Spec plain(List<Clause> clauses) {
            return new Spec(
                    clauses, 0, 0, false, false, Condition.NONE, Extra.NONE, Extra.NONE, false, 0, false, false);
        }

        Spec withClauses(List<Clause> others) {
            return new Spec(
                    others,
                    failures,
                    retries,
                    error,
                    nullValue,
                    condition,
                    defaultValue,
                    fallback,
                    essential,
                    timeoutSeconds,
                    badCallbacks,
                    undo);
        }

        boolean actionFails() {
            return error ? failures > 0 : failures > retries;
        }

        int attempts() {
            return actionFails() ? error ? 1 : retries + 1 : failures + 1;
        }

        /** Returns whether all clauses are optional. Then the node begins with the first success. */
        boolean isAllOptional() {
            return !clauses.isEmpty() && clauses.stream().allMatch(clause -> clause.kind() == Kind.OPTIONAL);
        }
    }

    static String id(int node) {
        return "n" + node;
    }

    int size() {
        return nodes.size();
    }

    boolean isTarget(int node) {
        return only.contains(node);
    }

    static RandomFlow of(Random random) {
        int size = 1 + random.nextInt(random.nextInt(4) == 0 ? 30 : 12);
        int reach = 2 + random.nextInt(size + 1);
        List<Spec> nodes = new ArrayList<>();
        for (int node = 0; node < size; node++) {
            nodes.add(spec(random, node, reach));
        }
        List<Integer> only = new ArrayList<>();
        if (random.nextInt(6) == 0) {
            for (int target = 1 + random.nextInt(2); target > 0; target--) {
                int node = random.nextInt(size);
                if (!only.contains(node)) {
                    only.add(node);
                }
            }
        }
        int output = random.nextInt(4) == 0 ? random.nextInt(size) : -1;
        return new RandomFlow(nodes, output, only, random.nextInt(6) == 0, random.nextInt(6) == 0);
    }

    private static Spec spec(Random random, int node, int reach) {
        List<Integer> upstreams = new ArrayList<>();
        int wanted = random.nextInt(8) == 0 ? 0 : random.nextInt(5);
        for (int i = 0; i < wanted && node > 0; i++) {
            int upstream = node - 1 - random.nextInt(Math.min(reach, node));
            if (!upstreams.contains(upstream)) {
                upstreams.add(upstream);
            }
        }
        List<Clause> clauses = new ArrayList<>();
        boolean allOptional = random.nextInt(10) == 0;
        while (!upstreams.isEmpty()) {
            Kind kind = allOptional ? Kind.OPTIONAL : kind(random);
            int count = kind == Kind.CHOICE ? 1 + random.nextInt(upstreams.size()) : 1;
            List<Integer> part = List.copyOf(upstreams.subList(0, count));
            upstreams.subList(0, count).clear();
            int successes = kind != Kind.CHOICE ? 0 : random.nextBoolean() ? 1 : 1 + random.nextInt(count);
            clauses.add(new Clause(kind, successes, part));
        }
        boolean troubled = random.nextInt(3) == 0;
        return new Spec(
                clauses,
                troubled ? random.nextInt(3) : 0,
                random.nextInt(4) == 0 ? 1 + random.nextInt(2) : 0,
                random.nextInt(8) == 0,
                random.nextInt(8) == 0,
                random.nextInt(6) == 0 ? Condition.values()[random.nextInt(4)] : Condition.NONE,
                random.nextInt(3) == 0 ? Extra.values()[random.nextInt(4)] : Extra.NONE,
                random.nextInt(5) == 0 ? Extra.values()[random.nextInt(4)] : Extra.NONE,
                random.nextInt(10) == 0,
                random.nextInt(5) == 0 ? 1 + random.nextInt(1_000) : 0,
                random.nextInt(10) == 0,
                random.nextInt(4) == 0);
    }

    private static Kind kind(Random random) {
        return switch (random.nextInt(10)) {
            case 0, 1, 2, 3 -> Kind.MUST;
            case 4 -> Kind.ORDER;
            case 5 -> Kind.OPTIONAL;
            case 6 -> Kind.AFTER;
            default -> Kind.CHOICE;
        };
    }

    RandomFlow onlyFor(int target) {
        return new RandomFlow(nodes, output, List.of(target), failFast, interruptObsolete);
    }

    /** Returns flows that are each slightly simpler than this one. */
    List<RandomFlow> simpler() {
        List<RandomFlow> simpler = new ArrayList<>();
        for (int node = size() - 1; node >= 0 && size() > 1; node--) {
            simpler.add(without(node));
        }
        if (failFast) {
            simpler.add(new RandomFlow(nodes, output, only, false, interruptObsolete));
        }
        if (interruptObsolete) {
            simpler.add(new RandomFlow(nodes, output, only, failFast, false));
        }
        if (!only.isEmpty()) {
            simpler.add(new RandomFlow(nodes, output, List.of(), failFast, interruptObsolete));
        }
        if (output >= 0) {
            simpler.add(new RandomFlow(nodes, -1, only, failFast, interruptObsolete));
        }
        for (int node = 0; node < size(); node++) {
            Spec spec = nodes.get(node);
            List<Clause> clauses = spec.clauses();
            for (Spec other : simpler(spec)) {
                List<Spec> changed = new ArrayList<>(nodes);
                changed.set(node, other);
                simpler.add(new RandomFlow(changed, output, only, failFast, interruptObsolete));
            }
            for (int i = 0; i < clauses.size(); i++) {
                List<Clause> fewer = new ArrayList<>(clauses);
                fewer.remove(i);
                List<Spec> changed = new ArrayList<>(nodes);
                changed.set(node, spec.withClauses(fewer));
                simpler.add(new RandomFlow(changed, output, only, failFast, interruptObsolete));
            }
        }
        return simpler;
    }

    private static List<Spec> simpler(Spec s) {
        Spec plain = Spec.plain(s.clauses());
        List<Spec> simpler = new ArrayList<>(List.of(
                plain,
                new Spec(
                        s.clauses,
                        s.failures,
                        s.retries,
                        s.error,
                        false,
                        s.condition,
                        s.defaultValue,
                        s.fallback,
                        s.essential,
                        s.timeoutSeconds,
                        s.badCallbacks,
                        s.undo),
                new Spec(
                        s.clauses,
                        s.failures,
                        s.retries,
                        s.error,
                        s.nullValue,
                        Condition.NONE,
                        s.defaultValue,
                        s.fallback,
                        s.essential,
                        s.timeoutSeconds,
                        s.badCallbacks,
                        s.undo),
                new Spec(
                        s.clauses,
                        s.failures,
                        s.retries,
                        s.error,
                        s.nullValue,
                        s.condition,
                        Extra.NONE,
                        s.fallback,
                        s.essential,
                        s.timeoutSeconds,
                        s.badCallbacks,
                        s.undo),
                new Spec(
                        s.clauses,
                        s.failures,
                        s.retries,
                        s.error,
                        s.nullValue,
                        s.condition,
                        s.defaultValue,
                        Extra.NONE,
                        s.essential,
                        s.timeoutSeconds,
                        s.badCallbacks,
                        s.undo),
                new Spec(
                        s.clauses,
                        s.failures,
                        s.retries,
                        s.error,
                        s.nullValue,
                        s.condition,
                        s.defaultValue,
                        s.fallback,
                        false,
                        s.timeoutSeconds,
                        s.badCallbacks,
                        s.undo),
                new Spec(
                        s.clauses,
                        s.failures,
                        s.retries,
                        s.error,
                        s.nullValue,
                        s.condition,
                        s.defaultValue,
                        s.fallback,
                        s.essential,
                        0,
                        s.badCallbacks,
                        s.undo),
                new Spec(
                        s.clauses,
                        s.failures,
                        s.retries,
                        s.error,
                        s.nullValue,
                        s.condition,
                        s.defaultValue,
                        s.fallback,
                        s.essential,
                        s.timeoutSeconds,
                        false,
                        s.undo),
                new Spec(
                        s.clauses,
                        s.failures,
                        s.retries,
                        s.error,
                        s.nullValue,
                        s.condition,
                        s.defaultValue,
                        s.fallback,
                        s.essential,
                        s.timeoutSeconds,
                        s.badCallbacks,
                        false),
                new Spec(
                        s.clauses,
                        Math.min(1, s.failures),
                        0,
                        false,
                        s.nullValue,
                        s.condition,
                        s.defaultValue,
                        s.fallback,
                        s.essential,
                        s.timeoutSeconds,
                        s.badCallbacks,
                        s.undo)));
        simpler.removeIf(s::equals);
        return simpler;
    }

    private RandomFlow without(int gone) {
        List<Spec> left = new ArrayList<>();
        for (int node = 0; node < size(); node++) {
            if (node == gone) {
                continue;
            }
            List<Clause> clauses = new ArrayList<>();
            for (Clause clause : nodes.get(node).clauses()) {
                List<Integer> upstreams = new ArrayList<>();
                for (int upstream : clause.upstreams()) {
                    if (upstream != gone) {
                        upstreams.add(upstream > gone ? upstream - 1 : upstream);
                    }
                }
                if (!upstreams.isEmpty()) {
                    clauses.add(new Clause(clause.kind(), Math.min(clause.successes(), upstreams.size()), upstreams));
                }
            }
            left.add(nodes.get(node).withClauses(clauses));
        }
        List<Integer> targets = only.stream()
                .filter(target -> target != gone)
                .map(target -> target > gone ? target - 1 : target)
                .toList();
        int asked = output == gone ? -1 : output > gone ? output - 1 : output;
        return new RandomFlow(left, asked, targets, failFast, interruptObsolete);
    }

    @Override
    public String toString() {
        List<String> lines = new ArrayList<>(
                List.of("flow" + (failFast ? ", fail fast" : "") + (interruptObsolete ? ", interrupt obsolete" : "")
                        + (output < 0 ? "" : ", output n" + output) + (only.isEmpty() ? "" : ", only " + only)));
        for (int node = 0; node < size(); node++) {
            Spec spec = nodes.get(node);
            String needs = spec.clauses().stream().map(Clause::toString).collect(Collectors.joining(", "));
            lines.add(" " + id(node) + ": " + (needs.isEmpty() ? "root" : needs)
                    + (spec.failures() == 0 ? "" : ", " + spec.failures() + (spec.error() ? " errors" : " failures"))
                    + (spec.retries() == 0 ? "" : ", " + spec.retries() + " retries")
                    + (spec.nullValue() ? ", null" : "")
                    + of("condition", spec.condition())
                    + of("default", spec.defaultValue())
                    + of("fallback", spec.fallback())
                    + (spec.essential() ? ", essential" : "")
                    + (spec.timeoutSeconds() == 0 ? "" : ", timeout " + spec.timeoutSeconds() + " s")
                    + (spec.badCallbacks() ? ", bad callbacks" : "")
                    + (spec.undo() ? ", undo" : ""));
        }
        return String.join("\n", lines);
    }

    private static String of(String what, Enum<?> value) {
        return value.name().equals("NONE")
                ? ""
                : ", " + what + " " + value.name().toLowerCase();
    }

    /** Which nodes a target needs, itself included; all if there are no targets. */
    boolean[] wanted() {
        boolean[] wanted = new boolean[size()];
        Arrays.fill(wanted, only.isEmpty());
        for (int node = size() - 1; node >= 0; node--) {
            if (isTarget(node)) {
                wanted[node] = true;
            }
            if (wanted[node]) {
                nodes.get(node).clauses().forEach(clause -> clause.upstreams().forEach(up -> wanted[up] = true));
            }
        }
        return wanted;
    }
}
