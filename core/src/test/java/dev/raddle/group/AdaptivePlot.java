package dev.raddle.group;

import dev.raddle.group.AdaptiveQuality.Day;
import dev.raddle.group.AdaptiveQuality.Step;
import dev.raddle.group.AdaptiveQuality.Subject;
import dev.raddle.group.CalleeSimulation.Client;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Draws the plot of adaptive limits in the guide, and writes its table: {@code ./dev plot adaptive}. */
final class AdaptivePlot {

    private static final String BEGIN = "<!-- table of ./dev plot adaptive -->";
    private static final String END = "<!-- end of the table -->";
    private static final int SEEDS = 20;
    private static final int SERVERS = 40;
    private static final double SERVICE_SECONDS = 0.02;
    private static final int SECONDS = 180;
    private static final int WIDTH = 760;
    private static final int LEFT = 70;
    private static final int HEIGHT = 130; // of a panel
    private static final int GAP = 36;

    private AdaptivePlot() {}

    /** Writes the plot, and the table into the guide. The argument is the directory of the guide. */
    public static void main(String[] args) throws IOException {
        Path guide = Path.of(args[0]);
        Files.createDirectories(guide.resolve("images"));
        Files.writeString(guide.resolve("images/adaptive.svg"), svg());
        Path page = guide.resolve("groups.md");
        String text = Files.readString(page);
        int from = text.indexOf(BEGIN) + BEGIN.length();
        int to = text.indexOf(END);
        Files.writeString(page, text.substring(0, from) + "\n" + table() + text.substring(to));
    }

    // The table.

    static String table() {
        StringBuilder table = new StringBuilder();
        table.append("| | must be | gradient | vegas | aimd |\n|---|---|---|---|---|\n");
        List<Subject> subjects = List.of(AdaptiveQuality.GRADIENT, AdaptiveQuality.VEGAS, AdaptiveQuality.AIMD);
        List<Step> steps = new ArrayList<>();
        List<Day> days = new ArrayList<>();
        List<Double> shares = new ArrayList<>();
        for (Subject subject : subjects) {
            steps.add(steps(subject));
            days.add(day(subject));
            shares.add(shares(subject));
        }
        row(table, "throughput after 30 s", "≥ 90 %", steps, step -> percent(step.throughput()));
        row(table, "p99 of the run times after 30 s", "≤ 2", steps, step -> number(step.p99()));
        row(table, "time of a day within 25 % of the best limit", "", days, day -> percent(1 - day.outside()));
        row(table, "limit over the day", "0.75 to 1.25", days, AdaptivePlot::range);
        row(table, "share of one of two groups in that of the other", "≥ 0.75", shares, AdaptivePlot::number);
        return table.toString();
    }

    private static Step steps(Subject subject) {
        Step worst = new Step(Double.MAX_VALUE, 0);
        for (int servers : new int[] {10, 20, 100}) {
            for (double load : AdaptiveQuality.LOADS) {
                for (int seed = 0; seed < SEEDS; seed++) {
                    worst = worst.worse(AdaptiveQuality.steps(subject, servers, SERVICE_SECONDS, load, seed));
                }
            }
        }
        return worst;
    }

    private static Day day(Subject subject) {
        Day worst = AdaptiveQuality.day(subject, 50, 0.25, 0);
        for (int seed = 1; seed < SEEDS; seed++) {
            worst = worst.worse(AdaptiveQuality.day(subject, 50, 0.25, seed));
        }
        return worst;
    }

    private static double shares(Subject subject) {
        double worst = 1;
        for (int seed = 0; seed < SEEDS; seed++) {
            worst = Math.min(worst, AdaptiveQuality.shares(subject, 40, SERVICE_SECONDS, 5, 60, seed));
        }
        return worst;
    }

    private static <T> void row(
            StringBuilder table,
            String title,
            String bound,
            List<T> values,
            java.util.function.Function<T, String> text) {
        table.append("| ").append(title).append(" | ").append(bound);
        values.forEach(value -> table.append(" | ").append(text.apply(value)));
        table.append(" |\n");
    }

    private static String percent(double part) {
        return String.format(Locale.ROOT, "%.1f %%", Math.floor(part * 1_000) / 10);
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    private static String range(Day day) {
        return number(day.lowest()) + " to " + number(day.highest());
    }

    // The plot.

    private record Point(double limit, double throughput, double millis) {}

    private static List<Point> points() {
        Client client = Client.saturated(AdaptiveLimit.gradient());
        CalleeSimulation simulation =
                new CalleeSimulation(1, time -> SERVICE_SECONDS, AdaptivePlot::capacity, Integer.MAX_VALUE, client);
        List<Point> points = new ArrayList<>();
        for (int second = 1; second <= SECONDS; second++) {
            client.reset();
            simulation.runUntil(second);
            points.add(new Point(client.limitSum, client.ended, client.quantile(0.99) * SERVICE_SECONDS * 1_000));
        }
        return points;
    }

    private static double capacity(double time) {
        return time >= 60 && time < 120 ? SERVERS / 2.0 : SERVERS;
    }

    static String svg() {
        List<Point> points = points();
        StringBuilder svg = new StringBuilder();
        int height = 3 * (HEIGHT + GAP) + 44;
        line(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
                        + " role=\"img\">",
                WIDTH,
                height,
                WIDTH,
                height);
        line(svg, "<title>An adaptive limit while the capacity of the callee halves and doubles</title>");
        svg.append("""
                <style>
                text { font: 13px sans-serif; fill: #24292f }
                .axis { stroke: #8c959f; fill: none }
                .grid { stroke: #8c959f; stroke-opacity: .35; fill: none }
                .best { stroke: #8c959f; stroke-width: 2; stroke-dasharray: 6 4; fill: none }
                .real { stroke: #0969da; stroke-width: 2; stroke-linejoin: round; fill: none }
                @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .real { stroke: #58a6ff } }
                </style>
                """);
        panel(
                svg,
                0,
                "limit (calls at once)",
                60,
                20,
                points.stream().map(Point::limit).toList(),
                AdaptivePlot::capacity);
        panel(
                svg,
                1,
                "throughput (calls per second)",
                2_400,
                800,
                points.stream().map(Point::throughput).toList(),
                time -> capacity(time) / SERVICE_SECONDS);
        panel(
                svg,
                2,
                "99th percentile of the run time (ms)",
                200,
                50,
                points.stream().map(Point::millis).toList(),
                time -> StrictMath.log(100) * SERVICE_SECONDS * 1_000);
        int bottom = top(2) + HEIGHT;
        for (int second = 0; second <= SECONDS; second += 30) {
            line(svg, "<text x=\"%s\" y=\"%d\" text-anchor=\"middle\">%d</text>", x(second), bottom + 18, second);
        }
        line(svg, "<text x=\"%s\" y=\"%d\" text-anchor=\"middle\">time (s)</text>", x(SECONDS / 2.0), bottom + 38);
        svg.append("</svg>\n");
        return svg.toString();
    }

    private static void panel(
            StringBuilder svg,
            int index,
            String title,
            int most,
            int step,
            List<Double> values,
            java.util.function.DoubleUnaryOperator best) {
        int top = top(index);
        line(svg, "<text x=\"%d\" y=\"%d\">%s</text>", LEFT, top - 9, title);
        if (index == 0) {
            line(svg, "<path class=\"real\" d=\"M%d %dh28\"/>", WIDTH - 330, top - 14);
            line(svg, "<text x=\"%d\" y=\"%d\">gradient</text>", WIDTH - 296, top - 9);
            line(svg, "<path class=\"best\" d=\"M%d %dh28\"/>", WIDTH - 210, top - 14);
            line(svg, "<text x=\"%d\" y=\"%d\">best fixed limit at the time</text>", WIDTH - 176, top - 9);
        }
        for (int value = 0; value <= most; value += step) {
            line(
                    svg,
                    "<path class=\"%s\" d=\"M%d %sH%s\"/>",
                    value == 0 ? "axis" : "grid",
                    LEFT,
                    y(top, value, most),
                    x(SECONDS));
            line(
                    svg,
                    "<text x=\"%d\" y=\"%s\" text-anchor=\"end\">%d</text>",
                    LEFT - 8,
                    y(top, value - most / 32.0, most),
                    value);
        }
        StringBuilder bestPath = new StringBuilder();
        StringBuilder path = new StringBuilder();
        for (int second = 1; second <= values.size(); second++) {
            String next = (second == 1 ? "M" : "L") + x(second) + " ";
            path.append(next).append(y(top, Math.min(values.get(second - 1), most), most));
            bestPath.append(second == 1 ? "M" : "L")
                    .append(x(second - 1))
                    .append(' ')
                    .append(y(top, best.applyAsDouble(second - 1), most));
            bestPath.append('H').append(x(second));
        }
        line(svg, "<path class=\"best\" d=\"%s\"/>", bestPath);
        line(svg, "<path class=\"real\" d=\"%s\"/>", path);
    }

    private static int top(int panel) {
        return 28 + panel * (HEIGHT + GAP);
    }

    private static String x(double second) {
        return String.format(Locale.ROOT, "%.1f", LEFT + second / SECONDS * (WIDTH - LEFT - 20));
    }

    private static String y(int top, double value, double most) {
        return String.format(Locale.ROOT, "%.1f", top + HEIGHT * (1 - value / most));
    }

    private static void line(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
