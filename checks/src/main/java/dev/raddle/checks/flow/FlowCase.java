package dev.raddle.checks.flow;

import dev.raddle.checks.flow.CaseNode.Join;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One case of a file: a flow, how it is run, and the expected outcome.
 *
 * @param id the name
 * @param title the property that it tests
 * @param nodes the nodes, in order of declaration
 * @param edges the edges, in order of declaration
 * @param outputs the ids of its outputs
 * @param run the settings of its runs
 * @param script the steps of the driver during the runs
 * @param expect the expected outcome
 * @param parameters a parameter for each run; several runs are concurrent
 * @param repeat the minimum number of repetitions
 * @param limitMs the maximum time of a run, or 0
 */
record FlowCase(
        String id,
        String title,
        List<CaseNode> nodes,
        List<CaseEdge> edges,
        List<String> outputs,
        RunSettings run,
        List<ScriptStep> script,
        Expectation expect,
        List<Object> parameters,
        int repeat,
        long limitMs) {

    static FlowCase parse(Object value) {
        JsonObject map = JsonObject.of("a case", value);
        List<CaseNode> nodes = new ArrayList<>();
        List<CaseEdge> edges = new ArrayList<>();
        generate(map, value, nodes, edges);
        if (!(map.get("nodes") instanceof String)) {
            map.list("nodes").forEach(node -> nodes.add(CaseNode.parse(node)));
        }
        map.list("edges").forEach(edge -> edges.add(CaseEdge.parse(edge)));
        RunSettings run = RunSettings.parse(map.has("run") ? map.get("run") : Map.of());
        if (map.has("context")) {
            run = new RunSettings(
                    run.timeoutMs(),
                    run.threads(),
                    run.interruptObsolete(),
                    run.failFast(),
                    run.only(),
                    run.parameter(),
                    map.text("context", null));
        }
        String outputs = map.spelling("output", "outputs", "returning");
        Object expect = map.has("expect") ? map.get("expect") : Map.of();
        FlowCase parsed = new FlowCase(
                map.text("id", "?"),
                map.text("title", ""),
                nodes,
                edges,
                outputs == null
                        ? List.of()
                        : map.get(outputs) instanceof String one ? List.of(one) : map.texts(outputs),
                run,
                ScriptStep.parseAll(map.list("script")),
                Expectation.parse(expect),
                map.has("runs") ? map.list("runs") : java.util.Collections.singletonList(run.parameter()),
                (int) map.number("repeat", 1),
                Math.max(
                        map.number("limitMs", 0),
                        JsonObject.of("expect", expect).number("limitMs", 0)));
        map.get("note");
        map.get("comment");
        map.checkNoUnknownKeys();
        parsed.check();
        return parsed;
    }

    private static void generate(JsonObject map, Object value, List<CaseNode> nodes, List<CaseEdge> edges) {
        String key = map.spelling("generate", "generator");
        Object spec = key != null ? map.get(key) : map.get("nodes") instanceof String text ? text : null;
        if (spec != null) {
            Generated generated = Generated.parse(spec, value);
            nodes.addAll(generated.nodes());
            edges.addAll(generated.edges());
        }
    }

    /**
     * Checks that every node that the script or the expectation names exists; otherwise the script would wait for
     * ever.
     */
    private void check() {
        if (expect.buildError() != null) {
            return;
        }
        Set<String> ids = ids();
        List<String> named = new ArrayList<>(expect.nodes().keySet());
        named.remove(Expectation.OTHERS);
        named.addAll(expect.notRun());
        expect.sameThread().forEach(named::addAll);
        expect.order().forEach(order -> named.addAll(List.of(order.first(), order.second())));
        script.stream().map(ScriptStep::node).filter(node -> !node.isEmpty()).forEach(named::add);
        for (String name : named) {
            if (!ids.contains(name)) {
                throw new CaseFormatException(
                        "the script or the expectation names \"" + name + "\", which is not a node");
            }
        }
        for (ScriptStep step : script) {
            if (step.parameter() != null
                    && parameters.stream().map(String::valueOf).noneMatch(step.parameter()::equals)) {
                throw new CaseFormatException(
                        "the condition \"" + step + "\" names an unknown run; known are " + parameters);
            }
        }
    }

    Set<String> ids() {
        Set<String> ids = new HashSet<>();
        nodes.forEach(node -> ids.add(node.id()));
        return ids;
    }

    /** Returns the maximum number of threads that the actions of all runs hold at once while they wait. */
    int heldThreads() {
        return (int) nodes.stream().filter(CaseNode::holdsThread).count() * parameters.size();
    }

    /**
     * Returns the value of the caller's context: the value of the case, or the value that one of its actions expects.
     */
    String context() {
        if (run.context() != null) {
            return run.context();
        }
        for (CaseNode node : nodes) {
            boolean readsContext =
                    !node.steps().isEmpty() && node.steps().getLast().word().equals("context");
            if (readsContext && expect.of(node.id()).get("value") instanceof String value) {
                return value;
            }
        }
        return "the caller's";
    }

    /** A large flow of a regular shape. */
    private record Generated(List<CaseNode> nodes, List<CaseEdge> edges) {

        private static final Set<String> SHAPES = Set.of("chain", "fan", "anyDiamonds", "slowRootDiamonds");

        /** Reads "chain 100", ["chain", 100], {"chain": 100} or {"kind": "chain", "n": 100}. */
        static Generated parse(Object spec, Object wholeCase) {
            List<String> words = new ArrayList<>();
            flatten(spec, words);
            words.removeAll(Set.of("kind", "name", "type", "shape", "n", "generator", "size"));
            if (words.size() == 2 && SHAPES.contains(words.get(1))) {
                words = words.reversed();
            }
            if (words.size() != 2
                    || !SHAPES.contains(words.get(0))
                    || !words.get(1).matches("\\d{1,7}")) {
                throw new CaseFormatException("a generator must be one of "
                        + SHAPES.stream().sorted().toList() + " and a number, was " + JsonObject.show(spec));
            }
            Generated generated = new Generated(new ArrayList<>(), new ArrayList<>());
            int n = Integer.parseInt(words.get(1));
            Set<String> named = new HashSet<>();
            collect(wholeCase, named);
            switch (words.get(0)) {
                case "chain" -> generated.chain(n);
                case "fan" -> generated.fan(n, named.contains("r") ? "r" : "root");
                case "anyDiamonds" ->
                    generated.diamonds(n, 1, new CaseNode(named.contains("root") ? "root" : "r", step("return", "r")));
                default -> {
                    CaseNode root = new CaseNode(
                            named.contains("r") ? "r" : "root", step("await", "never"), step("return", "r"));
                    generated.diamonds(n, Join.ALL, root);
                }
            }
            return generated;
        }

        private static void flatten(Object spec, List<String> words) {
            switch (spec) {
                case java.util.Map<?, ?> map ->
                    map.forEach((key, value) -> {
                        flatten(key, words);
                        flatten(value, words);
                    });
                case List<?> list -> list.forEach(each -> flatten(each, words));
                case String text -> words.addAll(List.of(text.trim().split("[\\s(),:]+", -1)));
                case null -> {}
                default -> words.add(spec.toString());
            }
        }

        private static void collect(Object value, Set<String> texts) {
            switch (value) {
                case java.util.Map<?, ?> map ->
                    map.forEach((key, each) -> {
                        collect(key, texts);
                        collect(each, texts);
                    });
                case List<?> list -> list.forEach(each -> collect(each, texts));
                case String text -> texts.addAll(List.of(text.split(":", -1)));
                case null -> {}
                default -> {}
            }
        }

        private static Step step(String word, Object argument) {
            return new Step(word, List.of(argument));
        }

        private void chain(int n) {
            for (int i = 0; i < n; i++) {
                nodes.add(new CaseNode("n" + i, step("return", i)));
                if (i > 0) {
                    must("n" + (i - 1), "n" + i);
                }
            }
        }

        private void fan(int n, String root) {
            List<String> middle = new ArrayList<>();
            nodes.add(new CaseNode(root, step("return", root)));
            for (int i = 0; i < n; i++) {
                middle.add("m" + i);
                nodes.add(new CaseNode("m" + i, step("return", 1)));
                must(root, "m" + i);
            }
            nodes.add(new CaseNode("sink", step("sum", middle)));
            middle.forEach(each -> must(each, "sink"));
        }

        private void diamonds(int n, int join, CaseNode root) {
            nodes.add(root);
            String above = root.id();
            for (int i = 0; i < n; i++) {
                String below = i == n - 1 ? "end" : "j" + i;
                for (String arm : List.of("l" + i, "q" + i)) {
                    nodes.add(new CaseNode(arm, step("return", arm)));
                    must(above, arm);
                    must(arm, below);
                }
                nodes.add(new CaseNode(below, step("return", below)).joined(join));
                above = below;
            }
        }

        private void must(String from, String to) {
            edges.add(new CaseEdge(from, to, "must"));
        }
    }
}
