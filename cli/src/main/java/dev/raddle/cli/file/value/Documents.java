package dev.raddle.cli.file.value;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.composer.Composer;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.AnchorNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.parser.Parser;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/**
 * Parses YAML or JSON text into nodes with locations. JSON needs no parser of its own, because YAML 1.2 contains it.
 */
public final class Documents {
    private static final Pattern START = Pattern.compile("found character '(.)'");

    private Documents() {}

    /** Returns the root of the only document in {@code text}; null if it is empty, or invalid, which adds a problem. */
    public static @Nullable Node parse(String text, String file, Problems problems) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(file)
                .setCodePointLimit(Integer.MAX_VALUE) // FileSize limits files
                .setAllowNonScalarKeys(true) // Values refuses them, with their place
                .setMaxAliasesForCollections(Integer.MAX_VALUE) // aliases are shared nodes, never copies
                .build();
        try {
            Parser parser = new DepthLimit(new ParserImpl(settings, new StreamReader(settings, text)));
            Optional<Node> root = new Composer(settings, parser).getSingleNode();
            if (root.isEmpty()) {
                problems.add(new Location(file, 1, 1), "the file is empty");
                return null;
            }
            return plain(root.get());
        } catch (MarkedYamlEngineException e) {
            problems.add(place(e, file), sentence(e));
        } catch (ReaderException e) {
            String before = text.substring(0, text.offsetByCodePoints(0, e.getPosition()));
            int line = (int) before.chars().filter(c -> c == '\n').count() + 1;
            problems.add(
                    new Location(file, line, before.length() - before.lastIndexOf('\n')),
                    String.format("the character U+%04X must not occur in the file", e.getCodePoint()));
        } catch (YamlEngineException e) {
            problems.add(new Location(file, 1, 1), String.valueOf(e.getMessage()));
        }
        return null;
    }

    /** Returns the node itself, also where the file refers to it by an alias. */
    public static Node plain(Node node) {
        return node instanceof AnchorNode anchor ? anchor.getRealNode() : node;
    }

    private static Location place(MarkedYamlEngineException e, String file) {
        Optional<Mark> mark = e.getProblemMark().or(e::getContextMark);
        return mark.map(Location::of).orElse(new Location(file, 1, 1));
    }

    private static String sentence(MarkedYamlEngineException e) {
        String context = e.getContext();
        String problem = e.getProblem();
        if (problem.startsWith("mapping values are not allowed")) {
            return "a text that contains a colon and a blank must be between quotes";
        }
        if (problem.contains("TAB")) {
            return "a line must be indented by blanks, not by a tab";
        }
        Matcher start = START.matcher("while scanning an alias".equals(context) ? "found character '*'" : problem);
        if (start.lookingAt()) {
            return "a text that begins with " + start.group(1) + " must be between quotes";
        }
        if (problem.startsWith("but found another document")) {
            return "the file must have one document, this is another";
        }
        if (context == null || context.isEmpty()) {
            return problem;
        }
        String begin = e.getContextMark()
                .map(Location::of)
                .map(at -> " that begins at " + at.line() + ":" + at.column())
                .orElse("");
        return problem + " (" + context + begin + ")";
    }
}
