package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PendingAlarmTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final PendingAlarm alarm = new PendingAlarm();
    private final List<String> fired = new ArrayList<>();

    @Test
    void an_alarm_fires_unless_it_is_disarmed() {
        PendingAlarm disarmed = new PendingAlarm();
        alarm.arm(time, SECOND, () -> fired.add("armed"));
        disarmed.arm(time, SECOND, () -> fired.add("disarmed"));
        disarmed.disarm();
        time.advance(SECOND);

        assertThat(fired).containsExactly("armed");
        assertThat(alarm.isDisarmed()).isFalse();
        assertThat(disarmed.isDisarmed()).isTrue();
    }

    @Test
    void an_alarm_that_is_disarmed_first_is_never_armed() {
        alarm.disarm();
        alarm.arm(time, SECOND, () -> fired.add("late"));

        assertThat(time.alarms()).isZero();
    }

    @Test
    void an_alarm_that_is_disarmed_while_it_is_being_armed_is_cancelled() {
        TimeSource disarming = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                Alarm armed = time.after(delay, action);
                alarm.disarm(); // it does not see the alarm that is returned here
                return armed;
            }
        };
        alarm.arm(disarming, SECOND, () -> fired.add("late"));

        assertThat(time.alarms()).isZero();
    }
}
