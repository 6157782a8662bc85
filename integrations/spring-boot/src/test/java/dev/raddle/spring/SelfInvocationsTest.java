package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SelfInvocationsTest {

    @Test
    void a_direct_call_is_found() {
        assertThat(in(Direct.class)).containsExactly("Direct.caller -> work");
    }

    @Test
    void a_call_whose_arguments_branch_and_compute_is_found() {
        assertThat(in(Arguments.class)).containsExactly("Arguments.caller -> work");
    }

    @Test
    void a_call_in_a_lambda_and_a_reference_are_found() {
        assertThat(in(Lambdas.class)).containsExactlyInAnyOrder("Lambdas.lambda -> work", "Lambdas.reference -> work");
    }

    @Test
    void a_call_in_a_superclass_is_found() {
        assertThat(in(Lower.class)).containsExactly("Upper.caller -> work");
    }

    @Test
    void a_call_of_another_object_of_the_class_is_not_reported() {
        assertThat(in(Others.class)).isEmpty();
    }

    @Test
    void a_call_of_the_overridden_method_is_not_reported() {
        assertThat(in(Overrides.class)).isEmpty();
    }

    private static List<String> in(Class<?> type) {
        List<Method> work = Stream.of(type.getMethods())
                .filter(method -> method.getName().equals("work"))
                .toList();
        assertThat(work).isNotEmpty();
        return SelfInvocations.in(type, work).stream()
                .map(found -> found.caller() + " -> " + found.callee())
                .toList();
    }

    public static class Work {
        public long work(long number, Object object, String text) {
            return number;
        }
    }

    public static class Direct extends Work {
        void caller() {
            work(1, this, "a");
        }
    }

    public static class Arguments extends Work {
        int[] counts = new int[2];

        long caller(int choice, double share) {
            String text = switch (choice) {
                case 1 -> "one";
                case 2 -> "two";
                default -> throw new IllegalArgumentException();
            };
            return counts[0]++
                    + work(
                            choice > 1 ? (long) (share * choice) : ~choice << 3,
                            share < 0.5 ? new int[3][4] : text + choice,
                            text instanceof String ? text : null);
        }
    }

    public static class Lambdas extends Work {
        interface Job {
            long run(long number, Object object, String text);
        }

        Supplier<Long> lambda() {
            return () -> work(1, "", "");
        }

        Job reference() {
            return this::work;
        }
    }

    public static class Upper extends Work {
        void caller() {
            work(0, null, null);
        }
    }

    public static class Lower extends Upper {}

    public static class Others extends Work {
        Others self;

        void caller(Others other, boolean choice) {
            self.work(1, this, "a");
            other.work(1, this, "a");
            new Others().work(2, this, "b");
            (choice ? other : self).work(3, this, "c");
            other.work(4, choice ? this : other, "d");
        }
    }

    public static class Overrides extends Work {
        @Override
        public long work(long number, Object object, String text) {
            return super.work(number, object, text) + 1;
        }
    }
}
