package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The moments of cron expressions, also where clocks are set. */
class ScheduleTest {

    /** Returns moments in local time with their offsets. */
    private static List<String> moments(String cron, String zone, String after, int count) {
        Schedule schedule = Schedule.cron(cron, ZoneId.of(zone));
        List<String> found = new ArrayList<>();
        Instant moment = Instant.parse(after);
        for (int i = 0; i < count; i++) {
            moment = schedule.next(moment);
            found.add(moment.atZone(ZoneId.of(zone)).toOffsetDateTime().toString());
        }
        return found;
    }

    @ParameterizedTest
    @CsvSource({
        // left out: when clocks are set
        "Europe/Berlin, 30 2 * * *, 2026-03-28T12:00:00Z, 2026-03-29T03:00+02:00, 2026-03-30T02:30+02:00",
        "Europe/Berlin, 0 2 * * *, 2026-03-28T12:00:00Z, 2026-03-29T03:00+02:00, 2026-03-30T02:00+02:00",
        "Europe/Berlin, */20 2 * * *, 2026-03-28T12:00:00Z, 2026-03-29T03:00+02:00, 2026-03-30T02:00+02:00",
        "America/New_York, 30 2 * * *, 2026-03-07T12:00:00Z, 2026-03-08T03:00-04:00, 2026-03-09T02:30-04:00",
        "America/Sao_Paulo, 0 0 * * *, 2018-11-03T12:00:00Z, 2018-11-04T01:00-02:00, 2018-11-05T00:00-02:00",
        "Australia/Lord_Howe, 15 2 * * *, 2026-10-03T12:00:00Z, 2026-10-04T02:30+11:00, 2026-10-05T02:15+11:00",
        "Europe/Berlin, 30 2 29 3 *, 2026-01-01T00:00:00Z, 2026-03-29T03:00+02:00, 2027-03-29T02:30+02:00",
        // left out, and another one follows: not added
        "Europe/Berlin, 0 3 * * *, 2026-03-28T12:00:00Z, 2026-03-29T03:00+02:00, 2026-03-30T03:00+02:00",
        "Europe/Berlin, */30 * * * *, 2026-03-29T00:10:00Z, 2026-03-29T01:30+01:00, 2026-03-29T03:00+02:00",
        "Europe/Berlin, 15 * * * *, 2026-03-29T00:10:00Z, 2026-03-29T01:15+01:00, 2026-03-29T03:15+02:00",
        "Europe/Berlin, 30 2 28 3 *, 2026-03-28T12:00:00Z, 2027-03-28T03:00+02:00, 2028-03-28T02:30+02:00",
        // repeated: once, the first time
        "Europe/Berlin, 30 2 * * *, 2026-10-24T12:00:00Z, 2026-10-25T02:30+02:00, 2026-10-26T02:30+01:00",
        "America/New_York, 30 1 * * *, 2026-10-31T12:00:00Z, 2026-11-01T01:30-04:00, 2026-11-02T01:30-05:00",
        "Australia/Lord_Howe, 45 1 * * *, 2026-04-04T12:00:00Z, 2026-04-05T01:45+11:00, 2026-04-06T01:45+10:30",
        "Australia/Lord_Howe, 50 1 4 4 *, 2027-04-01T12:00:00Z, 2027-04-04T01:50+11:00, 2028-04-04T01:50+10:30",
        "Europe/Berlin, '30 1,2 * * *', 2026-10-24T23:40:00Z, 2026-10-25T02:30+02:00, 2026-10-26T01:30+01:00",
        "America/Havana, 9 0 * * 0, 2027-11-04T12:00:00Z, 2027-11-07T00:09-04:00, 2027-11-14T00:09-05:00",
        // not in the gap, but on the next day that matches
        "Africa/Cairo, '36 0,4 * * 4,6', 2027-04-29T02:00:00Z, 2027-04-29T04:36+02:00, 2027-05-01T00:36+03:00"
    })
    void a_moment_that_clocks_leave_out_or_repeat_takes_place_once(
            String zone, String cron, String after, String first, String second) {
        assertThat(moments(cron, zone, after, 2)).containsExactly(first, second);
    }

    @Test
    void several_moments_of_an_hour_that_clocks_repeat_take_place_twice() {
        assertThat(moments("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:40:00Z", 5))
                .containsExactly(
                        "2026-10-25T02:00+02:00",
                        "2026-10-25T02:30+02:00",
                        "2026-10-25T02:00+01:00",
                        "2026-10-25T02:30+01:00",
                        "2026-10-25T03:00+01:00");
    }

    @Test
    void a_moment_of_each_hour_takes_place_in_the_repeated_hour_too() {
        assertThat(moments("15 * * * 0", "America/Havana", "2027-11-07T03:40:00Z", 3))
                .containsExactly("2027-11-07T00:15-04:00", "2027-11-07T00:15-05:00", "2027-11-07T01:15-05:00");
    }

    @Test
    void a_moment_is_a_whole_second_whenever_it_is_asked_for() {
        assertThat(moments("* * * * * *", "Europe/Berlin", "2026-11-29T11:55:27.175429Z", 2))
                .containsExactly("2026-11-29T12:55:28+01:00", "2026-11-29T12:55:29+01:00");
    }

    @Test
    void moments_only_grow_over_two_years_of_each_zone() {
        for (String zone : List.of("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tehran", "UTC")) {
            for (String cron : List.of("30 2 * * *", "15 1,2,3 * * *", "45 */2 * * 1-5", "5 0 1 * *")) {
                Schedule schedule = Schedule.cron(cron, ZoneId.of(zone));
                Instant moment = Instant.parse("2026-01-01T00:00:00Z");
                while (moment.isBefore(Instant.parse("2028-01-01T00:00:00Z"))) {
                    Instant next = schedule.next(moment);
                    assertThat(next).as(zone + " " + cron).isAfter(moment);
                    assertThat(schedule.next(next.minusNanos(1)))
                            .as("asked just before")
                            .isEqualTo(next);
                    moment = next;
                }
            }
        }
    }

    @Test
    void six_fields_begin_with_the_second() {
        assertThat(moments("*/20 * * * * *", "UTC", "2026-11-29T12:00:00Z", 2))
                .containsExactly("2026-11-29T12:00:20Z", "2026-11-29T12:00:40Z");
    }

    @ParameterizedTest
    @CsvSource({
        "0 3 * * *, 2026-11-26T03:00:00Z, 2026-11-29T02:59:59Z, 2026-11-28T03:00:00Z",
        "0 3 * * *, 2026-11-26T03:00:00Z, 2026-11-29T03:00:00Z, 2026-11-29T03:00:00Z",
        "0 3 * * *, 2026-11-26T03:00:00Z, 2026-11-26T12:00:00Z, 2026-11-26T03:00:00Z",
        "* * * * *, 2016-11-26T03:00:00Z, 2026-11-29T02:59:59Z, 2026-11-29T02:59:00Z",
        "* * 1 1 *, 2026-01-01T00:00:00Z, 2026-11-29T00:00:00Z, 2026-01-01T23:59:00Z",
        "0 0 29 2 *, 2016-02-29T00:00:00Z, 2026-11-29T00:00:00Z, 2024-02-29T00:00:00Z"
    })
    void of_the_moments_that_have_passed_the_latest_is_found(String cron, Instant first, Instant now, Instant latest) {
        assertThat(Schedule.cron(cron, ZoneOffset.UTC).latest(first, now)).isEqualTo(latest);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0 25 * * *", "nonsense", "", "0 3 * * * * *", "@daily", "0 3 * * FOO"})
    void what_is_no_cron_expression_is_refused_with_the_rule(String cron) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Schedule.cron(cron, ZoneOffset.UTC))
                .withMessageStartingWith(
                        "cron must have 5 fields: minute, hour, day of month, month and day of week, or 6"
                                + " with the second first, was \"" + cron + "\": ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0 3 30 2 *", "-"})
    void an_expression_without_a_moment_is_refused(String cron) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Schedule.cron(cron, ZoneOffset.UTC))
                .withMessageContaining("\"" + cron + "\"");
    }
}
