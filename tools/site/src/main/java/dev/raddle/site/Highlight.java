package dev.raddle.site;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.swing.text.Segment;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Node;
import org.commonmark.renderer.NodeRenderer;
import org.commonmark.renderer.html.HtmlWriter;
import org.fife.ui.rsyntaxtextarea.SyntaxConstants;
import org.fife.ui.rsyntaxtextarea.Token;
import org.fife.ui.rsyntaxtextarea.TokenMaker;
import org.fife.ui.rsyntaxtextarea.TokenMakerFactory;
import org.fife.ui.rsyntaxtextarea.TokenTypes;
import org.jspecify.annotations.Nullable;

/** Writes blocks of code with a {@code span} around each word that the style sheet gives a colour. */
final class Highlight implements NodeRenderer {

    private static final Map<String, String> STYLES = Map.of(
            "java", SyntaxConstants.SYNTAX_STYLE_JAVA,
            "kotlin", SyntaxConstants.SYNTAX_STYLE_KOTLIN,
            "groovy", SyntaxConstants.SYNTAX_STYLE_GROOVY,
            "sh", SyntaxConstants.SYNTAX_STYLE_UNIX_SHELL,
            "sql", SyntaxConstants.SYNTAX_STYLE_SQL,
            "xml", SyntaxConstants.SYNTAX_STYLE_XML,
            "yaml", SyntaxConstants.SYNTAX_STYLE_YAML);

    private static final Map<Integer, String> CLASSES = IntStream.range(0, TokenTypes.DEFAULT_NUM_TOKEN_TYPES)
            .boxed()
            .filter(type -> !classOf(type).isEmpty())
            .collect(Collectors.toMap(Function.identity(), Highlight::classOf));

    private final HtmlWriter html;

    /**
     * Creates a renderer.
     *
     * @param html the page
     */
    Highlight(HtmlWriter html) {
        this.html = html;
    }

    private static String classOf(int type) {
        return switch (type) {
            case TokenTypes.COMMENT_EOL,
                    TokenTypes.COMMENT_MULTILINE,
                    TokenTypes.COMMENT_DOCUMENTATION,
                    TokenTypes.MARKUP_COMMENT -> "comment";
            case TokenTypes.RESERVED_WORD,
                    TokenTypes.RESERVED_WORD_2,
                    TokenTypes.DATA_TYPE,
                    TokenTypes.LITERAL_BOOLEAN,
                    TokenTypes.MARKUP_TAG_NAME -> "word";
            case TokenTypes.LITERAL_STRING_DOUBLE_QUOTE,
                    TokenTypes.LITERAL_CHAR,
                    TokenTypes.LITERAL_BACKQUOTE,
                    TokenTypes.MARKUP_TAG_ATTRIBUTE_VALUE -> "string";
            case TokenTypes.LITERAL_NUMBER_DECIMAL_INT,
                    TokenTypes.LITERAL_NUMBER_FLOAT,
                    TokenTypes.LITERAL_NUMBER_HEXADECIMAL -> "number";
            case TokenTypes.ANNOTATION, TokenTypes.VARIABLE -> "name";
            default -> "";
        };
    }

    @Override
    public Set<Class<? extends Node>> getNodeTypes() {
        return Set.of(FencedCodeBlock.class);
    }

    @Override
    public void render(Node node) {
        FencedCodeBlock block = (FencedCodeBlock) node;
        String language = block.getInfo();
        html.line();
        html.tag("pre", Map.of("tabindex", "0")); // so that the keyboard can scroll it
        html.tag("code", language.isEmpty() ? Map.of() : Map.of("class", "language-" + language));
        String style = STYLES.get(language);
        if (style == null) {
            html.text(block.getLiteral());
        } else {
            write(
                    block.getLiteral().lines().toList(),
                    TokenMakerFactory.getDefaultInstance().getTokenMaker(style));
        }
        html.tag("/code");
        html.tag("/pre");
        html.line();
    }

    private void write(List<String> lines, TokenMaker maker) {
        int state = TokenTypes.NULL; // not 0 inside a comment or a text block of several lines
        for (String line : lines) {
            Segment text = new Segment(line.toCharArray(), 0, line.length());
            for (Token token = maker.getTokenList(text, state, 0);
                    token != null && token.isPaintable();
                    token = token.getNextToken()) {
                write(token.getLexeme(), CLASSES.get(token.getType()));
            }
            html.raw("\n");
            state = maker.getLastTokenTypeOnLine(text, state);
        }
    }

    private void write(String word, @Nullable String style) {
        if (style == null) {
            html.text(word);
        } else {
            html.tag("span", Map.of("class", style));
            html.text(word);
            html.tag("/span");
        }
    }
}
