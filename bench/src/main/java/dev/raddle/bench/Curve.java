package dev.raddle.bench;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * What a unit costs, over the number of units.
 *
 * @param name the name of the picture
 * @param what the unit
 * @param points the measured points, of the smallest number first
 */
record Curve(String name, String what, List<Point> points) {

    private static final int WIDTH = 480;
    private static final int HEIGHT = 240;
    private static final int MARGIN = 48;
    private static final double RATIO_MAX = 2;

    /**
     * One number of units.
     *
     * @param size the number of units
     * @param cpu the CPU time of a unit in nanoseconds
     * @param bytes the bytes allocated for a unit
     */
    record Point(int size, Stat cpu, Stat bytes) {}

    /** Returns a picture: both costs divided by those among the smallest number, and the goal of 1.5. */
    String svg() {
        StringBuilder svg = new StringBuilder("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
                <title>What %s costs, compared with the smallest number</title>
                <rect width="100%%" height="100%%" fill="#fff"/>
                <text x="%d" y="20">What %s costs, ÷ the smallest number</text>
                """.formatted(WIDTH, HEIGHT, what, MARGIN, what));
        for (double ratio = 0; ratio <= RATIO_MAX; ratio += 0.5) {
            svg.append(String.format(
                    Locale.ROOT,
                    """
                    <path d="M%d %.1fH%d" stroke="%s"/><text x="8" y="%.1f">%.1f×</text>
                    """,
                    MARGIN,
                    y(ratio),
                    WIDTH - MARGIN,
                    ratio == 1.5 ? "#c00" : "#ddd",
                    y(ratio) + 4,
                    ratio));
        }
        for (int i = 0; i < points.size(); i++) {
            svg.append(String.format(
                    Locale.ROOT, """
                    <text x="%.1f" y="%d" text-anchor="middle">%,d</text>
                    """, x(i), HEIGHT - MARGIN / 2, points.get(i).size()));
        }
        line(svg, "CPU", "#06c", "", Point::cpu, 36);
        line(svg, "bytes", "#080", " stroke-dasharray=\"6 3\"", Point::bytes, 36 + 64);
        return svg.append("</svg>\n").toString();
    }

    private void line(
            StringBuilder svg, String label, String colour, String dashes, Function<Point, Stat> cost, int left) {
        double smallest = cost.apply(points.getFirst()).median();
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < points.size(); i++) {
            double ratio = Math.min(cost.apply(points.get(i)).median() / smallest, RATIO_MAX);
            path.append(String.format(Locale.ROOT, "%s%.1f %.1f", i == 0 ? "M" : "L", x(i), y(ratio)));
        }
        svg.append("""
                <path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>
                <text x="%d" y="36" fill="%s">%s</text>
                """.formatted(path, colour, dashes, MARGIN + left - 36, colour, label));
    }

    private double x(int point) {
        return MARGIN + 24 + point * (WIDTH - 2.0 * MARGIN - 48) / (points.size() - 1);
    }

    private static double y(double ratio) {
        return HEIGHT - MARGIN - ratio * (HEIGHT - 2.0 * MARGIN) / RATIO_MAX;
    }
}
