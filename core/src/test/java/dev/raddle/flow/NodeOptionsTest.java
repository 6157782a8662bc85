package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class NodeOptionsTest {

    @Test
    void options_that_were_changed_alike_are_equal_and_show_them() {
        NodeOptions options = NodeOptions.NONE.with(each -> each.timeout = Duration.ofSeconds(1));

        assertThat(options)
                .isEqualTo(NodeOptions.NONE.with(each -> each.timeout = Duration.ofSeconds(1)))
                .hasSameHashCodeAs(NodeOptions.NONE.with(each -> each.timeout = Duration.ofSeconds(1)))
                .isNotEqualTo(NodeOptions.NONE)
                .isNotEqualTo(options.with(each -> each.flags = NodeOptions.COMPUTE));
        assertThat(options.toString()).contains("PT1S");
    }
}
