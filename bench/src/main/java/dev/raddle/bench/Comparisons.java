package dev.raddle.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * All ratios on the page of measurements, one line of the picture for each peer of a section. The page is their only
 * source, so a section that is measured alone changes its own lines.
 *
 * @param ratios the ratios of each line, by its title; a ratio below 1 is better for Raddle
 */
record Comparisons(Map<String, List<Double>> ratios) {

    /** The beginnings of the names of peers, and what the picture calls them. */
    private static final Map<String, String> PEERS = new LinkedHashMap<>();

    static {
        PEERS.put("bare", "virtual threads");
        PEERS.put("virtual threads", "virtual threads");
        PEERS.put("threads and a latch", "threads and a latch");
        PEERS.put("semaphore", "semaphores");
        PEERS.put("fair semaphore", "semaphores");
        PEERS.put("map of semaphores", "semaphores");
        PEERS.put("bulkhead", "Resilience4j");
        PEERS.put("JDK's scope", "the JDK's scope");
        PEERS.put("Jox", "Jox");
        PEERS.put("CompletableFuture", "CompletableFuture");
        PEERS.put("orTimeout", "orTimeout");
        PEERS.put("scheduled pool", "the JDK's scheduled pool");
        PEERS.put("ScheduledThreadPoolExecutor", "the JDK's scheduled pool");
        PEERS.put("Semaphore.tryAcquire", "Semaphore.tryAcquire");
        PEERS.put("JDK, ", "ThreadPoolExecutor");
        PEERS.put("ForkJoinPool", "ForkJoinPool");
        PEERS.put("Redisson", "Redisson");
        PEERS.put("steps of DBOS", "DBOS");
        PEERS.put("tasks of db-scheduler", "db-scheduler");
        PEERS.put("actions, by the SDK", "the SDK of Restate");
    }

    /** What Raddle is compared with beside peers: itself, and less work. */
    private static final List<String> OTHERS = List.of(
            "without",
            "the first one first",
            "alone",
            "fixed",
            "one of ",
            "only to query",
            "reading its lines",
            "forced lines",
            "a node in the caller's thread");

    private static final Pattern BEGIN = Pattern.compile("<!-- (\\w+):begin -->");
    private static final Pattern PEER = Pattern.compile("(.*?):? (-?[0-9][0-9,.]*)(?: \\(.*\\))?");
    private static final Pattern NUMBER = Pattern.compile("-?[0-9][0-9,.]*");

    private static final int WIDTH = 720;
    private static final int LEFT = 260;
    private static final int RIGHT = 110;
    private static final int TOP = 64;
    private static final int LINE = 22;
    private static final double SMALLEST = 0.01;
    private static final double LARGEST = 10;

    /** Reads the tables of the page. */
    static Comparisons of(String page) {
        Map<String, List<Double>> ratios = new LinkedHashMap<>();
        String section = "";
        String measured = "";
        boolean moreIsBetter = false;
        for (String line : page.lines().toList()) {
            Matcher begin = BEGIN.matcher(line);
            section = begin.matches() ? begin.group(1) : section;
            String[] cells = line.split(" \\| ", -1);
            if (cells.length != 6 || !line.startsWith("| ")) {
                continue;
            }
            measured = cells[1].isEmpty() ? measured : cells[1]; // a repeated answer is not printed
            boolean sameQuestion = cells[0].equals("| ") || cells[0].startsWith("| the same");
            if (!sameQuestion || !cells[4].isEmpty()) {
                moreIsBetter = measured.contains("/s") || cells[4].contains("≥");
            }
            Matcher peer = PEER.matcher(cells[2]);
            if (cells[3].endsWith("×") && peer.matches()) {
                double answer = number(measured);
                double ofPeer = number(peer.group(2));
                double ratio = moreIsBetter ? ofPeer / answer : answer / ofPeer;
                String title = section + " ÷ ";
                title(peer.group(1))
                        .ifPresent(name -> ratios.computeIfAbsent(title + name, key -> new ArrayList<>())
                                .add(ratio));
            }
        }
        return new Comparisons(ratios);
    }

    private static double number(String text) {
        Matcher number = NUMBER.matcher(text);
        return number.find() ? Double.parseDouble(number.group().replace(",", "")) : Double.NaN;
    }

    private static Optional<String> title(String peer) {
        for (Map.Entry<String, String> known : PEERS.entrySet()) {
            if (peer.startsWith(known.getKey())) {
                return Optional.of(known.getValue());
            }
        }
        if (OTHERS.stream().anyMatch(peer::startsWith)) {
            return Optional.empty();
        }
        throw new IllegalArgumentException("\"" + peer + "\" must begin with the name of a peer in " + PEERS.keySet()
                + " or with one of " + OTHERS + "; add it to Comparisons");
    }

    /** Returns the picture. */
    String svg() {
        int height = TOP + ratios.size() * LINE + LINE;
        StringBuilder svg =
                new StringBuilder("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
                <title>The ratio of Raddle to each peer, in time, CPU or memory</title>
                <rect width="100%%" height="100%%" fill="#fff"/>
                <text x="%.1f" y="20" text-anchor="end">◀ Raddle takes less</text>
                <text x="%.1f" y="20">Raddle takes more ▶</text>
                <text x="%d" y="%d">median</text>
                """.formatted(WIDTH, height, x(1) - 8, x(1) + 8, WIDTH - RIGHT + 16, TOP - LINE));
        for (double ratio : new double[] {0.01, 0.1, 0.5, 1, 2, 10}) {
            svg.append(String.format(
                    Locale.ROOT,
                    """
                    <path d="M%.1f %dV%d" stroke="%s"/><text x="%.1f" y="%d" text-anchor="middle">%s×</text>
                    """,
                    x(ratio),
                    TOP - LINE / 2,
                    height - LINE / 2,
                    ratio == 1 ? "#000" : "#ccc",
                    x(ratio),
                    TOP - LINE,
                    ratio < 1 ? String.valueOf(ratio) : String.valueOf((int) ratio)));
        }
        double y = TOP;
        for (Map.Entry<String, List<Double>> line : ratios.entrySet()) {
            y += LINE;
            line(svg, y - LINE / 2.0 + 4, line.getKey(), line.getValue());
        }
        return svg.append("</svg>\n").toString();
    }

    private static void line(StringBuilder svg, double y, String title, List<Double> ratios) {
        List<Double> sorted = ratios.stream().sorted().toList();
        double median = Math.sqrt(sorted.get((sorted.size() - 1) / 2) * sorted.get(sorted.size() / 2));
        svg.append(String.format(Locale.ROOT, """
                <text x="%d" y="%.1f" text-anchor="end">%s</text>
                """, LEFT - 16, y, title));
        for (double ratio : sorted) {
            svg.append(String.format(Locale.ROOT, """
                    <circle cx="%.1f" cy="%.1f" r="4" fill="none" stroke="#555"/>
                    """, x(ratio), y - 4));
        }
        svg.append(String.format(Locale.ROOT, """
                <path d="M%.1f %.1fv16" stroke="#000" stroke-width="3"/><text x="%d" y="%.1f">%.2f× of %d</text>
                """, x(median), y - 12, WIDTH - RIGHT + 16, y, median, sorted.size()));
    }

    /** Returns the place of a ratio on a logarithmic scale; what is beyond the scale is at its end. */
    private static double x(double ratio) {
        double bounded = Math.max(SMALLEST, Math.min(LARGEST, ratio));
        return LEFT + (WIDTH - LEFT - RIGHT) * Math.log(bounded / SMALLEST) / Math.log(LARGEST / SMALLEST);
    }

    /**
     * Draws the picture of the page.
     *
     * @param args the page and the picture
     * @throws IOException if one of them cannot be read or written
     */
    public static void main(String[] args) throws IOException {
        Files.writeString(
                Path.of(args[1]), of(Files.readString(Path.of(args[0]))).svg());
    }
}
