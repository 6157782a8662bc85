package dev.raddle.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.redis.FleetStatus;
import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

class FleetTextTest {
    private static final FleetStatus STATUS = new FleetStatus(
            List.of(
                    new FleetStatus.Instance("pod-1", "a1", Duration.ofSeconds(185), Duration.ofMillis(2900)),
                    new FleetStatus.Instance("pod-27", "b2", Duration.ofMillis(400), Duration.ofMillis(-1500))),
            List.of(
                    new FleetStatus.Key(
                            "vip",
                            4,
                            Rate.of(9, Duration.ofMinutes(1)).burst(1),
                            3,
                            List.of(
                                    new FleetStatus.Holding("pod", 2, Duration.ofMillis(4120)),
                                    new FleetStatus.Holding("p-7", 1, Duration.ofHours(2))),
                            7),
                    new FleetStatus.Key("a\nb", 0, null, 0, List.of(), 0)),
            0,
            16,
            3,
            Duration.ZERO);
    private static final FleetStatus UNUSED = new FleetStatus(List.of(), List.of(), 2, 0, 0, Duration.ofMillis(2500));

    @Test
    void a_table_shows_instances_with_their_leases_and_keys_with_their_holders() {
        assertThat(new FleetTable("shop", STATUS).text()).isEqualTo("""
                        fleet shop: 3 permits held, cap 16, default limit none

                        INSTANCE  LEASE             AGE
                        pod-1     2.90 s left       3 min 5 s
                        pod-27    ended 1.50 s ago  0.40 s

                        KEY   LIMIT  RATE                           HELD  WAITING  HELD BY
                        vip   4      9 per 1 min with a burst of 1  3     7        pod 2 for 4.12 s, p-7 1 for 2 h 0 min
                        a\\nb  none   none                           0     0
                        """);
    }

    @Test
    void an_unused_fleet_whose_server_lost_its_data_is_described_in_words() {
        assertThat(new FleetTable("shop", UNUSED).text()).isEqualTo("""
                        fleet shop: 0 permits held, cap none, default limit 2
                        The server lost its data: nothing is granted for 2.50 s

                        no instances

                        no keys in use
                        """);
    }

    @Test
    void json_has_every_number_of_the_status_and_null_for_what_is_not_limited() {
        Map<?, ?> json =
                (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(FleetJson.text("shop", STATUS));

        assertThat(json.toString())
                .isEqualTo("{namespace=shop, permits=3, cap=16, defaultLimit=null, quarantineMillis=0,"
                        + " instances=[{name=pod-1, id=a1, ageMillis=185000, leaseLeftMillis=2900},"
                        + " {name=pod-27, id=b2, ageMillis=400, leaseLeftMillis=-1500}],"
                        + " keys=[{key=vip, limit=4, rate={count=9, periodMillis=60000, burst=1}, permits=3,"
                        + " waiting=7, holders=[{instance=pod, permits=2, heldMillis=4120},"
                        + " {instance=p-7, permits=1, heldMillis=7200000}]},"
                        + " {key=a\nb, limit=null, rate=null, permits=0, waiting=0, holders=[]}]}");
    }

    @Test
    void the_command_leaves_itself_out() {
        FleetStatus status = FleetAccess.without("pod-1", STATUS);

        assertThat(status.instances()).containsExactly(STATUS.instances().getLast());
        assertThat(status.keys()).isEqualTo(STATUS.keys());
    }
}
