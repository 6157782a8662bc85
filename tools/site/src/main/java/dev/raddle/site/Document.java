package dev.raddle.site;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.CustomNode;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.HardLineBreak;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;
import org.jspecify.annotations.Nullable;

/** A page in Markdown: its sections, links and HTML. */
final class Document {

    private static final List<Extension> EXTENSIONS = List.of(TablesExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();

    /** A heading and the text below it, up to the next heading. */
    record Section(String anchor, String title, String text) {}

    private final Node root;
    private final Map<Node, String> anchors = new HashMap<>();
    private final List<Section> sections = new ArrayList<>();
    private final List<String> targets = new ArrayList<>();

    Document(String markdown) {
        root = PARSER.parse(markdown);
        root.accept(new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                anchors.put(heading, anchorOf(textOf(heading)));
                visitChildren(heading);
            }

            @Override
            public void visit(Link link) {
                targets.add(link.getDestination());
                visitChildren(link);
            }

            @Override
            public void visit(Image image) {
                targets.add(image.getDestination());
            }
        });
        divide();
    }

    private void divide() {
        @Nullable Heading heading = null;
        StringBuilder text = new StringBuilder();
        for (Node node = root.getFirstChild(); node != null; node = node.getNext()) {
            if (node instanceof Heading next) {
                addSection(heading, text);
                heading = next;
                text.setLength(0);
            } else {
                text.append(textOf(node)).append(' ');
            }
        }
        addSection(heading, text);
    }

    private void addSection(@Nullable Heading heading, StringBuilder text) {
        if (heading != null) {
            sections.add(new Section(anchors.getOrDefault(heading, ""), textOf(heading), text.toString()));
        }
    }

    /** Returns the anchor of a heading, as GitHub names it. */
    private static String anchorOf(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }

    private static String textOf(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text part) {
                text.append(part.getLiteral());
            }

            @Override
            public void visit(Code part) {
                text.append(part.getLiteral());
            }

            @Override
            public void visit(FencedCodeBlock part) {
                text.append(part.getLiteral());
            }

            @Override
            public void visit(SoftLineBreak part) {
                text.append(' ');
            }

            @Override
            public void visit(HardLineBreak part) {
                text.append(' ');
            }

            @Override
            public void visit(Paragraph part) {
                visitChildren(part);
                text.append(' ');
            }

            @Override
            public void visit(CustomNode part) {
                visitChildren(part);
                if (part instanceof TableCell) {
                    text.append(' '); // or its last word and the first of the next one would be one
                }
            }
        });
        return text.toString();
    }

    String title() {
        return sections.isEmpty() ? "" : sections.getFirst().title();
    }

    List<Section> sections() {
        return sections;
    }

    /** Returns the destinations of all links and images. */
    List<String> targets() {
        return targets;
    }

    boolean hasAnchor(String anchor) {
        return anchors.containsValue(anchor);
    }

    /** Returns this page in HTML, with other destinations of its links. */
    String html(UnaryOperator<String> destinations) {
        return HtmlRenderer.builder()
                .extensions(EXTENSIONS)
                .attributeProviderFactory(context -> (node, tag, attributes) -> {
                    String anchor = anchors.get(node);
                    if (anchor != null) {
                        attributes.put("id", anchor);
                    }
                    if (node instanceof Link link) {
                        attributes.put("href", destinations.apply(link.getDestination()));
                    }
                    if (node instanceof Image image) {
                        attributes.put("src", destinations.apply(image.getDestination()));
                    }
                })
                .nodeRendererFactory(context -> new Highlight(context.getWriter()))
                .build()
                .render(root);
    }
}
