package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IdsTest {

    private final Ids ids = new Ids();

    @Test
    void every_id_of_many_is_found_at_its_position_and_no_other() {
        for (int i = 0; i < 10_000; i++) {
            assertThat(ids.add("n" + i)).isTrue();
        }
        for (int i = 0; i < 10_000; i++) {
            assertThat(ids.find("n" + i)).isEqualTo(i);
        }
        assertThat(ids.find("n10000")).isEqualTo(-1);
        assertThat(ids.byPosition()).startsWith("n0", "n1").contains("n9999");
    }

    @Test
    void ids_with_the_same_hash_are_distinguished() {
        String[] alike = {"AaAaAa", "AaAaBB", "AaBBAa", "BBAaAa", "BBBBBB", "AaBBBB"};
        for (String each : alike) {
            assertThat(each.hashCode()).isEqualTo(alike[0].hashCode());
            ids.add(each);
        }
        for (int i = 0; i < alike.length; i++) {
            assertThat(ids.find(alike[i])).isEqualTo(i);
        }
        assertThat(ids.find("BBAaBB")).isEqualTo(-1);
    }

    @Test
    void the_first_of_two_equal_ids_is_found() {
        ids.add("a");
        ids.add("b");
        assertThat(ids.add(new StringBuilder("a").toString())).isFalse();
        ids.add("c");
        assertThat(ids.find("a")).isZero();
        assertThat(ids.find("c")).isEqualTo(3);
        assertThat(ids.byPosition()).startsWith("a", "b", "a", "c");
    }

    @Test
    void a_copy_is_not_affected_by_later_additions() {
        ids.add("a");
        Ids copy = ids.copy();
        ids.add("b");
        assertThat(copy.find("b")).isEqualTo(-1);
        assertThat(copy.find("a")).isZero();
        assertThat(copy.byPosition()).containsExactly("a");
    }
}
