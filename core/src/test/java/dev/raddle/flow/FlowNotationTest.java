package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class FlowNotationTest {

    private static List<String> edges(String text) {
        return FlowNotation.parse(text).stream()
                .map(edge -> edge.from() + ">" + edge.to() + (edge.kind().equals("must") ? "" : " " + edge.kind()))
                .toList();
    }

    @Test
    void an_arrow_is_a_must() {
        assertThat(edges("a-->b --> c-1")).containsExactly("a>b", "b>c-1");
    }

    @Test
    void brackets_contain_branches() {
        assertThat(edges("a-->(b-->c, d-->e-->f)-->g"))
                .containsExactlyInAnyOrder("a>b", "a>d", "b>c", "d>e", "e>f", "c>g", "f>g");
    }

    @Test
    void any_takes_the_ends_of_its_branches() {
        assertThat(edges("any(a, b-->c)-->g")).containsExactly("b>c", "a>g any", "c>g any");
        assertThat(edges("x-->any(a, b)-->g")).containsExactly("x>a", "x>b", "a>g any", "b>g any");
        assertThat(edges("atLeast(2, a, b, c)-->d")).containsExactly("a>d atLeast 2", "b>d atLeast 2", "c>d atLeast 2");
    }

    @Test
    void each_word_has_its_kind_of_dependency() {
        assertThat(edges("(optional(a,b),must(c,d))-->e"))
                .containsExactly("a>e optional", "b>e optional", "c>e", "d>e");
        assertThat(edges("after(a)-->b")).containsExactly("a>b after");
    }

    @Test
    void lines_commas_and_semicolons_separate() {
        assertThat(edges("a-->b\nb-->c; c-->d, d-->e\n -->f\n(x,\n y)-->z\n"))
                .containsExactly("a>b", "b>c", "c>d", "d>e", "e>f", "x>z", "y>z");
    }

    @Test
    void errors_contain_the_position_and_the_expectation() {
        assertThatThrownBy(() -> FlowNotation.parse("a-->"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected an id or \"(\" at position 5 of \"a-->\", found the end");
        assertThatThrownBy(() -> FlowNotation.parse("some(a)-->b"))
                .hasMessageContaining(
                        "expected one of any, atLeast, must, optional and after before \"(\" at position 1");
        assertThatThrownBy(() -> FlowNotation.parse("(a-->b")).hasMessageContaining("\")\" at position 7");
        assertThatThrownBy(() -> FlowNotation.parse("atLeast(a, b)-->c")).hasMessageContaining("a number");
        assertThatThrownBy(() -> FlowNotation.parse("a b")).hasMessageContaining("position 3");
    }

    @Test
    void wired_nodes_run_in_that_order() throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("wired");
        f.node("a", () -> "A");
        f.node("b", () -> {
            throw new IllegalStateException("b");
        });
        f.node("c", c -> c.read("a") + "C");
        f.node("d", c -> c.read("c") + "D");
        FlowNotation.wire(f, "any(a,b)-->c-->d");

        FlowResult<Void> result = f.build().run(null);

        assertThat(result.node("d").value()).isEqualTo("ACD");
        assertThatThrownBy(() -> FlowNotation.wire(f, "a-->nobody"))
                .hasMessage("there is no node \"nobody\" in flow \"wired\" yet; declare it");
    }
}
