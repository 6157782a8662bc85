package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FlowParameterTest {

    @Test
    void a_plan_without_a_parameter_runs_and_starts_without_one() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("f");
        FlowPlan<Void, String> plan = f.returning(f.node("a", () -> "A"));

        assertThat(plan.run().value()).isEqualTo("A");
        try (FlowRun<String> run = plan.start()) {
            assertThat(run.get()).isEqualTo("A");
        }
    }

    @Test
    void a_plan_with_a_parameter_is_not_run_or_started_without_one() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("greet", String.class);
        FlowPlan<String, String> plan = f.returning(f.node("a", c -> "hello " + c.param()));

        assertThatIllegalStateException()
                .isThrownBy(plan::run)
                .withMessage("flow \"greet\" of 1 nodes has a parameter;"
                        + " call run(parameter), with null if there is none this time");
        assertThatIllegalStateException().isThrownBy(plan::start).withMessageContaining("call start(parameter)");
        assertThat(plan.run(null).value()).isEqualTo("hello null");
    }

    @Test
    void functions_of_a_node_read_the_parameter_with_its_type() throws Exception {
        List<String> undone = new CopyOnWriteArrayList<>();
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> pay = f.node("pay", c -> "paid " + c.param())
                .when(c -> !c.param(String.class).isEmpty())
                .compensateWith((c, paid) -> undone.add(c.param(String.class).toUpperCase()));
        f.node("ship", pay, paid -> {
            throw new IllegalStateException("no stock");
        });

        assertThat(f.returning(pay).run("17a").status()).isEqualTo(FlowStatus.FAILED);

        assertThat(undone).containsExactly("17A");
        FlowBuilder<String> other = FlowPlan.define("other", String.class);
        Node<String> wrong = other.node("a", () -> "A").when(c -> c.param(Integer.class) > 0);
        assertThatThrownBy(() -> other.returning(wrong).run("x").value())
                .hasRootCauseInstanceOf(ClassCastException.class);
    }
}
