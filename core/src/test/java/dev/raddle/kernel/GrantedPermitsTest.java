package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.kernel.TestGate.Limits;
import org.junit.jupiter.api.Test;

class GrantedPermitsTest {

    @Test
    void permits_are_polled_in_the_order_of_their_grants_also_when_more_are_granted_meanwhile() {
        TestGate gate = new TestGate(Limits.of(1));
        Permit a = gate.request("a");
        Permit b = gate.request("b");
        Permit c = gate.request("c");
        Permit d = gate.request("d");
        GrantedPermits grants = new GrantedPermits();
        assertThat(grants.poll()).isNull();

        grants.add(a);
        grants.add(b);
        grants.add(c);
        assertThat(grants.size()).isEqualTo(3);
        assertThat(grants.poll()).isSameAs(a);
        grants.add(d);
        assertThat(grants.poll()).isSameAs(b);
        assertThat(grants.poll()).isSameAs(c);
        assertThat(grants.poll()).isSameAs(d);
        assertThat(grants.poll()).isNull();
        assertThat(grants.size()).isZero();

        grants.add(a);
        assertThat(grants.poll()).isSameAs(a);
        assertThat(grants.poll()).isNull();
    }
}
