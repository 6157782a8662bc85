package dev.raddle.cli.graph;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class GraphFormatTest {
    private static PlanGraph graph(String text) throws Exception {
        Plan plan = new PlanReader("build.yaml", Path.of("/somewhere"), name -> new byte[0]).read(text);
        return PlanGraph.of(plan);
    }

    private static PlanGraph build() throws Exception {
        return graph("""
                tasks:
                  - { id: fetch, run: "true" }
                  - { id: mirror, run: "true" }
                  - { id: "a \\"b\\" <c>", group: cpu, run: "true", needs: [{ any: [fetch, mirror] }], essential: true }
                  - { id: report, run: "true", \
                needs: [fetch, { optional: "a \\"b\\" <c>" }, { atLeast: 1, of: [mirror] }] }
                """);
    }

    @Test
    void text_for_a_terminal_lists_the_tasks_by_layer_each_with_its_needs() throws Exception {
        assertThat(GraphFormat.TEXT.write(build())).isEqualTo("""
                build: 4 tasks, 5 edges, 3 layers

                layer 1, 2 tasks
                  fetch [default]
                  mirror [default]

                layer 2, 1 task
                  a "b" <c> [cpu] essential  <- any (fetch, mirror)

                layer 3, 1 task
                  report [default]  <- fetch, optional (a "b" <c>), at least 1 (mirror)
                """);
    }

    @Test
    void mermaid_has_numbers_for_names_and_dashed_edges_for_needs_other_than_must() throws Exception {
        assertThat(GraphFormat.MERMAID.write(build())).isEqualTo("""
                flowchart LR
                    n0["fetch"]
                    n1["mirror"]
                    n2["a #34;b#34; #60;c#62;"]
                    n3["report"]
                    n0 -. any .-> n2
                    n1 -. any .-> n2
                    n0 --> n3
                    n2 -. optional .-> n3
                    n1 -. at least 1 .-> n3
                """);
    }

    @Test
    void graphviz_has_quoted_names() throws Exception {
        assertThat(GraphFormat.DOT.write(build()))
                .startsWith("digraph \"build\" {\n")
                .contains("    \"a \\\"b\\\" <c>\";\n")
                .contains("    \"fetch\" -> \"report\";\n")
                .contains("    \"mirror\" -> \"report\" [style=dashed, label=\"at least 1\"];\n")
                .endsWith("}\n");
    }

    @Test
    void an_svg_is_well_formed_and_has_every_task_and_edge() throws Exception {
        Document svg = parsed(GraphFormat.SVG.write(build()));

        assertThat(svg.getElementsByTagName("text").getLength()).isEqualTo(4);
        assertThat(svg.getElementsByTagName("path").getLength()).isEqualTo(5 + 1);
        assertThat(IntStream.range(0, 4)
                        .mapToObj(i -> svg.getElementsByTagName("text").item(i).getTextContent()))
                .containsExactly("fetch", "mirror", "a \"b\" <c>", "report");
    }

    private static Document parsed(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(xml)));
    }

    @Test
    void every_edge_leads_to_a_later_layer() throws Exception {
        PlanGraph graph = tenThousand();
        List<List<Integer>> layers = Layers.of(graph).all();
        int[] layerOf = new int[graph.size()];
        layers.forEach(layer -> layer.forEach(task -> layerOf[task] = layers.indexOf(layer)));

        assertThat(graph.edges()).hasSize(19_800);
        assertThat(graph.edges()).allMatch(edge -> layerOf[edge.from()] < layerOf[edge.to()]);
        assertThat(layers).hasSize(100);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void ten_thousand_tasks_are_written_in_every_format() throws Exception {
        PlanGraph graph = tenThousand();

        for (GraphFormat format : GraphFormat.values()) {
            assertThat(format.write(graph)).contains("99").hasSizeGreaterThan(100_000);
        }
    }

    @Test
    void the_order_in_a_layer_avoids_crossings() throws Exception {
        PlanGraph graph = graph("""
                tasks:
                  - { forEach: [1, 2, 3, 4], id: "a${line}", run: "true" }
                  - { forEach: [4, 3, 2, 1], id: "b${line}", run: "true", needs: "a${line}" }
                """);

        assertThat(Layers.of(graph).all().get(1))
                .extracting(task -> graph.task(Objects.requireNonNull(task)).id())
                .containsExactly("b1", "b2", "b3", "b4");
    }

    /** Returns a hundred layers of a hundred tasks, each of which needs two tasks of the previous layer. */
    private static PlanGraph tenThousand() throws Exception {
        StringBuilder file = new StringBuilder("tasks:\n");
        for (int layer = 0; layer < 100; layer++) {
            for (int i = 0; i < 100; i++) {
                file.append("- { id: t").append(layer).append('-').append(i).append(", run: 'true'");
                if (layer > 0) {
                    file.append(", needs: [t").append(layer - 1).append('-').append(i);
                    file.append(", t")
                            .append(layer - 1)
                            .append('-')
                            .append((i * 7 + layer) % 100 == i ? (i + 1) % 100 : (i * 7 + layer) % 100);
                    file.append(']');
                }
                file.append(" }\n");
            }
        }
        return graph(file.toString());
    }
}
