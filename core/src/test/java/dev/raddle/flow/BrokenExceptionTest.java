package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Exceptions of users whose own methods throw, or return what Throwable does not. */
@Timeout(60)
class BrokenExceptionTest {

    private static final class Broken extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final transient Supplier<Object> answer;
        private final String method;

        Broken(String method, Supplier<Object> answer) {
            super("q", null, true, true);
            this.method = method;
            this.answer = answer;
        }

        private <T> T answer(String called, Class<T> type, T otherwise) {
            return method != null && called.equals(method) ? type.cast(answer.get()) : otherwise;
        }

        @Override
        public String getMessage() {
            return answer("getMessage", String.class, super.getMessage());
        }

        @Override
        public String toString() {
            return answer("toString", String.class, "broken");
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            return answer("getStackTrace", StackTraceElement[].class, super.getStackTrace());
        }

        @Override
        public synchronized Throwable getCause() {
            return answer("getCause", Throwable.class, super.getCause());
        }
    }

    @Test
    void a_run_ends_and_is_explained_and_recorded_whatever_the_methods_of_its_exception_do() throws Exception {
        for (String method : List.of("getMessage", "toString", "getStackTrace", "getCause")) {
            for (boolean isNull : new boolean[] {false, true}) {
                String what = method + (isNull ? " returns null" : " throws");
                MemoryJournal journal = FlowJournal.inMemory();
                FlowBuilder<String> f = FlowPlan.define("broken", String.class);
                FlowPlan<String, String> plan = f.returning(f.node("n", c -> {
                    throw new Broken(method, () -> {
                        if (isNull) {
                            return null;
                        }
                        throw new AssertionError("no " + method);
                    });
                }));

                FlowResult<String> result = plan.run("x", RunOptions.defaults().withJournal(journal));

                assertThat(result.status()).as(what).isEqualTo(FlowStatus.FAILED);
                assertThat(result.explain("n")).as(what).contains("its action threw");
                assertThat(journal.entries())
                        .as(what)
                        .anyMatch(entry -> entry instanceof Entry.NodeEnded end
                                && end.failure() != null
                                && end.failure().type().equals(Broken.class.getName()))
                        .last()
                        .isInstanceOf(Entry.RunEnded.class);
            }
        }
    }
}
