package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.Rate;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is said of groups, at moments that the test makes. Changes have those of the real clock. */
@Timeout(20)
class GroupFindingsTest {

    private static final Duration LATER = Duration.ofMinutes(20);

    private final VirtualTime time = new VirtualTime();
    private final Changes changes = new Changes();
    private final Activity activity = new Activity("orders", new Failures(), changes, () -> true);
    private final Groups groups = new Groups(_ -> activity, new Failures(), new TaskRefs(), changes);
    private final Findings findings = new Findings(List.of(groups), changes);
    private final CountDownLatch end = new CountDownLatch(1);
    private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(2)
            .globalMaxInFlight(8)
            .addListener(activity)
            .timeSource(time)
            .build());
    private long now = System.currentTimeMillis() - 1_000; // before each change

    GroupFindingsTest() {
        groups.executors.add("orders", executor);
    }

    @AfterEach
    void endTasks() {
        end.countDown();
        executor.activeGroupKeys().forEach(executor::shutdownGroup); // one is paused
        executor.close();
    }

    private void submit(String key, int count) {
        for (int i = 0; i < count; i++) {
            executor.submit(key, "task", () -> {
                end.await();
                return "done";
            });
        }
    }

    private void advance(Duration length) {
        time.advance(length);
        now += length.toMillis();
        groups.sample(now);
        findings.update(now);
    }

    private Finding finding(String key) {
        return Objects.requireNonNull(findings.of(Finding.Link.ofGroup("orders", key)));
    }

    private String said(String key) {
        return IncidentTest.text(Json.object(finding(key)));
    }

    @Test
    void a_limit_that_was_lowered_is_said_first_and_what_waits_since_then() {
        submit("mails", 1);
        executor.setMaxConcurrency("mails", 1);
        advance(LATER);
        submit("mails", 3);
        advance(Duration.ofSeconds(5));

        assertThat(said("mails"))
                .startsWith("The limit of \"mails\" of orders was changed from 2 to 1 by the program at [time];"
                        + " since then 3 tasks wait, the oldest for [time] for a slot.")
                .doesNotContain("faster");
        assertThat(finding("mails").sinceAt())
                .isEqualTo(changes.latest("orders", "mails", "limit").at());
    }

    @Test
    void what_waited_before_a_change_does_not_wait_since_then() {
        submit("mails", 3);
        executor.setMaxConcurrency("mails", 1);
        advance(Duration.ofSeconds(5));

        assertThat(said("mails")).contains("by the program at [time]; now 1 task waits, for [time] for a slot.");
    }

    @Test
    void a_limit_that_was_raised_is_not_the_cause() {
        submit("mails", 4);
        executor.setMaxConcurrency("mails", 3);
        advance(Duration.ofSeconds(5));

        assertThat(said("mails"))
                .startsWith("Group \"mails\" of orders: 1 task waits, ")
                .doesNotContain("changed");
    }

    @Test
    void a_pause_a_hold_and_a_rate_are_said_with_who_has_set_them() {
        executor.pauseGroup("paused");
        executor.holdGroup("held", Duration.ofHours(1));
        executor.setRate("slow", Rate.of(1, Duration.ofMinutes(90)));
        advance(LATER);
        submit("paused", 1);
        submit("held", 2);
        submit("slow", 2);
        advance(Duration.ofSeconds(5));

        assertThat(said("paused"))
                .isEqualTo("Group \"paused\" of orders was paused by the program at [time];"
                        + " since then 1 task waits, for [time].");
        assertThat(said("held"))
                .isEqualTo("Group \"held\" of orders was put on hold by the program at [time];"
                        + " since then 2 tasks wait, the oldest for [time]. The hold ends in [time].");
        assertThat(said("slow"))
                .isEqualTo("The rate of \"slow\" of orders was changed to 1 per 1 h 30 min by the program at [time];"
                        + " since then 1 task waits, for [time]; the next one starts in [time].");
    }

    @Test
    void the_cap_and_weights_that_were_changed_are_said_first() {
        executor.setMaxConcurrency("bulk", 8);
        submit("bulk", 2);
        executor.setGlobalMaxInFlight(2);
        advance(LATER);
        submit("acme", 1);
        advance(Duration.ofSeconds(5));

        assertThat(said("acme"))
                .startsWith("The cap of \"orders\" was changed from 8 to 2 by the program at [time];"
                        + " since then 1 group waits for it, \"acme\" for [time]. \"bulk\" holds 2 slots (100 %).");

        assertThat(finding("acme").sinceAt())
                .isEqualTo(changes.latest("orders", null, "limit").at());

        executor.setWeight("bulk", 100);
        advance(Duration.ofSeconds(5));
        assertThat(said("acme"))
                .startsWith("The weight of \"bulk\" at the cap of \"orders\" was changed from 1 to 100 by the program")
                .contains("\"bulk\" holds 2 slots (100 %), with the weight 100. The weight of \"acme\" is 1.");
    }

    @Test
    void numbers_are_english_whatever_the_locale() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            executor.setMaxConcurrency("bulk", 20);
            executor.setWeight("bulk", 1_000);
            submit("bulk", 8);
            submit("acme", 1);
            advance(Duration.ofSeconds(5));
            submit("mails", 1_002);
            advance(Duration.ofSeconds(5));
        } finally {
            Locale.setDefault(before);
        }

        assertThat(said("acme")).contains(" 2 groups wait ", " 8 slots (100 %), with the weight 1,000. ");
    }

    @Test
    void the_group_with_the_weight_may_be_the_one_that_waits_longest() {
        executor.setMaxConcurrency("bulk", 20);
        executor.setWeight("bulk", 100);
        submit("bulk", 9);
        advance(Duration.ofSeconds(5));
        submit("acme", 1);
        advance(Duration.ofSeconds(5));

        assertThat(said("acme"))
                .contains("2 groups wait for it, \"acme\" for [time]. \"bulk\" holds 8 slots (100 %), with the"
                        + " weight 100. The weight of \"acme\" is 1.");
    }

    @Test
    void tasks_come_faster_than_they_end_only_while_more_of_them_wait() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            executor.submit("mails", "first", () -> {
                first.await();
                return "done";
            });
        }
        for (int i = 0; i < 2; i++) {
            executor.submit("mails", "second", () -> {
                begun.countDown();
                end.await();
                return "done";
            });
        }
        submit("mails", 1);
        time.advance(Duration.ofSeconds(3)); // the next holders are younger than what waits
        now += 3_000;
        first.countDown();
        begun.await();

        for (int i = 0; i < 4; i++) {
            submit("mails", 1);
            advance(Duration.ofSeconds(1));
        }
        assertThat(said("mails"))
                .isEqualTo("Group \"mails\" of orders: 5 tasks wait, the oldest for [time] for a slot."
                        + " Its limit is 2, and its tasks come faster than they end.");

        for (int i = 0; i < 4; i++) {
            advance(Duration.ofSeconds(1));
        }
        assertThat(said("mails")).endsWith(" Its limit is 2.");
    }
}
