package dev.raddle.bench;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One row of the report: the median of the forks, and the range of all forks.
 *
 * @param what the question
 * @param measured the answer, or null if the question was skipped
 * @param unit the unit of both answers
 * @param peerName the name of the peer, or null
 * @param peer the peer's answer, or null
 * @param goal the goal, or null
 */
record Row(
        String what,
        @Nullable Stat measured,
        String unit,
        @Nullable String peerName,
        @Nullable Stat peer,
        @Nullable Goal goal) {

    static final String HEAD = """
            | what | measured | peer | ratio | goal | lost |
            |---|---|---|---|---|---|""";

    /** What the measured intervals say of a goal. */
    enum Verdict {
        /** Every number of the interval meets the goal, or there is no goal. */
        MET(""),

        /** No number of the interval meets the goal. */
        MISSED("**missed:** "),

        /** The interval contains the goal. */
        UNDECIDED("cannot tell: ");

        private final String mark;

        Verdict(String mark) {
            this.mark = mark;
        }
    }

    /**
     * A bound for the answer or for its ratio to the peer's answer.
     *
     * @param ofRatio whether it bounds the ratio instead of the answer
     * @param atMost whether it is an upper bound instead of a lower one
     * @param bound the number
     */
    record Goal(boolean ofRatio, boolean atMost, double bound) {
        boolean isMet(double found) {
            double value = Math.rint(100 * found) / 100; // rounded as printed
            return atMost ? value <= bound : value >= bound;
        }

        Verdict of(double low, double high) {
            boolean metByLow = isMet(low);
            return metByLow != isMet(high) ? Verdict.UNDECIDED : metByLow ? Verdict.MET : Verdict.MISSED;
        }
    }

    static Row of(String what, Stat measured, String unit) {
        return new Row(what, measured, unit, null, null, null);
    }

    /** Returns a row that says why a question has no answer. */
    static Row skipped(String what, String reason) {
        return new Row(what + ": skipped, " + reason, null, "", null, null, null);
    }

    Row against(String name, Stat answer) {
        return new Row(what, measured, unit, name, answer, goal);
    }

    Row atMost(double bound) {
        return new Row(what, measured, unit, peerName, peer, new Goal(false, true, bound));
    }

    Row atLeast(double bound) {
        return new Row(what, measured, unit, peerName, peer, new Goal(false, false, bound));
    }

    Row ratioAtMost(double bound) {
        return new Row(what, measured, unit, peerName, peer, new Goal(true, true, bound));
    }

    Row ratioAtLeast(double bound) {
        return new Row(what, measured, unit, peerName, peer, new Goal(true, false, bound));
    }

    /** Returns what the {@linkplain Stat#low() interval} of the answer or of the ratio says of the goal. */
    Verdict verdict() {
        if (goal == null || measured == null) {
            return Verdict.MET;
        }
        return goal.ofRatio
                ? goal.of(measured.low() / requireNonNull(peer).high(), measured.high() / peer.low())
                : goal.of(measured.low(), measured.high());
    }

    private double ratio() {
        return measured == null || peer == null ? Double.NaN : measured.median() / peer.median();
    }

    /**
     * Returns the row of the table.
     *
     * @param judged whether a goal that is missed or undecided is marked
     * @param above the row above it, whose question and answer are not repeated, or null
     */
    String line(boolean judged, @Nullable Row above) {
        boolean isRepeated =
                above != null && what.equals(above.what) && text(measured).equals(above.text(above.measured));
        return String.join(
                        " | ",
                        "| " + (isRepeated ? "" : what),
                        isRepeated ? "" : text(measured),
                        peerText(),
                        ratioText(),
                        (judged ? verdict().mark : "") + goalText(),
                        measured == null ? "" : lostText(forks()))
                + " |";
    }

    Stream<Fork> forks() {
        return Stream.of(measured, peer).filter(Objects::nonNull).flatMap(stat -> stat.forks().stream());
    }

    /**
     * Returns what the forks lost of the machine's time: the largest share, in bold type if it is too large, and the
     * number of repeats, or "?" if the system does not tell.
     */
    static String lostText(Stream<Fork> all) {
        List<Fork> forks = all.distinct().toList();
        double lost = forks.stream().mapToDouble(Fork::lost).max().orElse(Double.NaN); // NaN is the largest
        if (Double.isNaN(lost)) {
            return "?";
        }
        String share = String.format(Locale.ROOT, "%.1f %%", 100 * lost);
        int repeats = forks.stream().mapToInt(Fork::repeats).sum();
        return (lost > Fork.LOST_MAX ? "**" + share + "**" : share)
                + (repeats == 0 ? "" : repeats == 1 ? ", 1 repeat" : ", " + repeats + " repeats");
    }

    private String peerText() {
        return peer == null ? "" : peerName + " " + text(peer, "");
    }

    private String ratioText() {
        return peer == null || peer.median() == 0 ? "" : number(ratio()) + "×";
    }

    private String goalText() {
        if (goal == null) {
            return "";
        }
        return (goal.atMost ? "≤ " : "≥ ") + number(goal.bound) + (goal.ofRatio ? "×" : "");
    }

    private String text(@Nullable Stat stat) {
        return stat == null ? "" : text(stat, unit.isEmpty() ? "" : " " + unit);
    }

    /** Returns the median, and the range in parentheses if the forks differ. */
    static String text(Stat stat, String suffix) {
        String from = number(stat.smallest());
        String to = number(stat.largest());
        return number(stat.median()) + suffix + (from.equals(to) ? "" : " (" + from + "–" + to + ")");
    }

    static String groups(String count) {
        return count.equals("1") ? "one group" : count(count) + " groups";
    }

    static String count(String count) {
        return String.format(Locale.ROOT, "%,d", Integer.valueOf(count));
    }

    private static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 1000 || size == Math.rint(size) ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }
}
