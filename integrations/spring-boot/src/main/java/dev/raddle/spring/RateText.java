package dev.raddle.spring;

import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/** Reads rates from properties: {@code 100/s}, {@code 5000/h burst 50}, {@code 300/m strict}, {@code 3/90s}. */
final class RateText {

    private static final Pattern SYNTAX = Pattern.compile("(\\d+)\\s*/\\s*(\\w+)(?:\\s+burst\\s+(\\d+)|\\s+(strict))?");

    private RateText() {}

    /**
     * Returns the rate that a text describes.
     *
     * @param text the text, or null
     * @return the rate, or null if there is no text
     * @throws IllegalArgumentException if the text describes no rate
     */
    static @Nullable Rate parse(@Nullable String text) {
        if (text == null) {
            return null;
        }
        Matcher matcher = SYNTAX.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException();
        }
        String period = matcher.group(2);
        String length = Character.isDigit(period.charAt(0)) || period.startsWith("P") ? period : "1" + period;
        Duration duration = DurationStyle.detectAndParse(length);
        Rate rate = Rate.of(Integer.parseInt(matcher.group(1)), duration);
        if (matcher.group(4) != null) {
            return rate.strict();
        }
        String burst = matcher.group(3);
        return burst == null ? rate : rate.burst(Integer.parseInt(burst));
    }
}
