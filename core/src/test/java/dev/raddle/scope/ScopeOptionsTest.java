package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskPriority;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ScopeOptionsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();

    @AfterEach
    void the_thread_is_inside_no_scope() {
        assertThat(ThreadScope.current()).isEmpty();
        assertThat(time.alarms()).isZero();
    }

    /** A call of a setter that throws. */
    private record Refused(String name, Consumer<ThreadScope> call) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Refused> refused() {
        return Stream.of(
                new Refused("withScheduler", scope -> scope.withScheduler(null)),
                new Refused("withFailurePolicy", scope -> scope.withFailurePolicy(null)),
                new Refused("withRetryPolicy", scope -> scope.withRetryPolicy(null)),
                new Refused("withDefaultTaskPriority", scope -> scope.withDefaultTaskPriority(null)),
                new Refused("withConcurrencyLimit", scope -> scope.withConcurrencyLimit(0)),
                new Refused("withDeadline", scope -> scope.withDeadline(null)),
                new Refused("addHook", scope -> scope.addHook(null)),
                new Refused("addListener", scope -> scope.addListener(null)),
                new Refused("addPropagator", scope -> scope.addPropagator(null)),
                new Refused("addScopedValue", scope -> scope.addScopedValue(null)),
                new Refused("withExceptionSink", scope -> scope.withExceptionSink(null)),
                new Refused("withPatience", scope -> scope.withPatience(Duration.ZERO)),
                new Refused("withTimeSource", scope -> scope.withTimeSource(new VirtualTime())));
    }

    // 2.5

    @ParameterizedTest
    @MethodSource("refused")
    void a_setter_that_throws_leaves_its_thread_and_the_time_source_as_they_were(Refused setter) {
        assertThatThrownBy(() -> {
                    ThreadScope scope =
                            ThreadScope.open("fan").withTimeSource(time).withDeadline(SECOND);
                    setter.call().accept(scope);
                })
                .isInstanceOf(RuntimeException.class);

        assertThat(ThreadScope.current()).isEmpty();
        assertThat(time.alarms()).isZero();
        time.advance(SECOND.multipliedBy(2));
        try (ThreadScope later = ThreadScope.open("later").withTimeSource(time)) {
            assertThat(later.remaining()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("refused")
    void a_setter_of_an_inner_scope_that_throws_leaves_the_outer_one_as_it_was(Refused setter) throws Exception {
        try (ThreadScope outer = ThreadScope.open("outer").withTimeSource(time).withDeadline(SECOND)) {
            assertThatThrownBy(() -> setter.call().accept(ThreadScope.open("inner")))
                    .isInstanceOf(RuntimeException.class);
            assertThat(ThreadScope.current()).contains(outer);
            assertThat(outer.submit(() -> "value").await()).isEqualTo("value");
        } // and no structure violation
    }

    @ParameterizedTest
    @MethodSource("refused")
    void a_scope_whose_setter_has_thrown_is_closed(Refused setter) {
        try (ThreadScope scope = ThreadScope.open("s").withTimeSource(time).withDeadline(SECOND)) {
            assertThatThrownBy(() -> setter.call().accept(scope)).isInstanceOf(RuntimeException.class);
            assertThatIllegalStateException()
                    .isThrownBy(() -> scope.submit("t", () -> "never"))
                    .withMessage("scope \"s\" is closed, task \"t\" came too late; submit inside its try block");
            assertThat(scope.token().isCancelled()).isTrue();
        }
    }

    @Test
    void what_a_deferred_action_throws_is_suppressed_in_the_exception_of_the_setter() {
        ThreadScope scope = ThreadScope.open();
        scope.defer(() -> {
            throw new IllegalStateException("of the action");
        });
        assertThatIllegalArgumentException()
                .isThrownBy(() -> scope.withConcurrencyLimit(0))
                .satisfies(refused -> assertThat(refused.getSuppressed()).hasSize(1));
        assertThat(ThreadScope.current()).isEmpty();
    }

    @Test
    void actions_deferred_before_a_setter_threw_are_run() {
        AtomicInteger runs = new AtomicInteger();
        assertThatIllegalArgumentException().isThrownBy(() -> {
            try (ThreadScope scope = ThreadScope.open()) {
                scope.defer(runs::incrementAndGet);
                scope.withConcurrencyLimit(0);
            }
        });
        assertThat(runs).hasValue(1);
    }

    @Test
    void a_setter_that_throws_in_the_block_leaves_the_scopes_opened_in_it_where_they_are() {
        try (ThreadScope outer = ThreadScope.open();
                ThreadScope inner = ThreadScope.open()) {
            assertThatIllegalArgumentException().isThrownBy(() -> outer.withConcurrencyLimit(0));
            assertThat(ThreadScope.current()).contains(inner);
        }
    }

    @Test
    void scopes_that_could_not_be_configured_are_collected() {
        List<WeakReference<ThreadScope>> opened = new ArrayList<>();
        try (ThreadScope outer = ThreadScope.open().withDeadline(Duration.ofDays(1))) {
            for (int i = 0; i < 100; i++) {
                assertThatIllegalArgumentException().isThrownBy(() -> {
                    ThreadScope scope = ThreadScope.open().withDeadline(Duration.ofHours(1));
                    opened.add(new WeakReference<>(scope));
                    scope.withConcurrencyLimit(0);
                });
            }
            Retained.awaitCleared(opened);
            assertThat(ThreadScope.current()).contains(outer);
        }
    }

    @Test
    void options_are_checked_when_they_are_made() {
        ScopeOptions options = ScopeOptions.defaults();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.withConcurrencyLimit(0))
                .withMessage("concurrency limit must be at least 1, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.withPatience(Duration.ZERO))
                .withMessage("patience of a scope must be positive, was PT0S");
        List<Function<ScopeOptions, ScopeOptions>> nulls = List.of(
                all -> all.withScheduler(null),
                all -> all.withFailurePolicy(null),
                all -> all.withRetryPolicy(null),
                all -> all.withDefaultTaskPriority(null),
                all -> all.withDeadline(null),
                all -> all.addHook(null),
                all -> all.addListener(null),
                all -> all.addPropagator(null),
                all -> all.addScopedValue(null),
                all -> all.withExceptionSink(null),
                all -> all.withTimeSource(null));
        for (Function<ScopeOptions, ScopeOptions> with : nulls) {
            assertThatNullPointerException().isThrownBy(() -> with.apply(options));
        }
        assertThatNullPointerException().isThrownBy(() -> ThreadScope.open(null, options));
        assertThatNullPointerException().isThrownBy(() -> ThreadScope.open("s", null));
    }

    @Test
    void every_option_has_the_effect_of_the_setter_of_its_name() throws Exception {
        StepScheduler steps = new StepScheduler();
        List<String> events = new ArrayList<>();
        ScopedValue<String> tenant = ScopedValue.newInstance();
        ContextPropagator propagator = () -> {
            events.add("captured");
            return () -> () -> {};
        };
        ScopeOptions options = ScopeOptions.defaults()
                .withScheduler(steps)
                .withFailurePolicy(FailurePolicy.SUPERVISOR)
                .withRetryPolicy(RetryPolicy.attempts(2))
                .withDefaultTaskPriority(TaskPriority.HIGH)
                .withConcurrencyLimit(1)
                .withDeadline(SECOND)
                .addHook(new ThreadHook() {
                    @Override
                    public void onStart(TaskInfo task) {
                        events.add("hook of " + task.name());
                        throw new IllegalStateException("for the sink");
                    }
                })
                .addListener(new TaskListener() {
                    @Override
                    public void onSubmitted(TaskIdentity task) {
                        events.add("listener of " + task.name());
                    }
                })
                .addPropagator(propagator)
                .addScopedValue(tenant)
                .withExceptionSink(ExceptionSink.to((source, failure) -> events.add("sink")))
                .withPatience(SECOND)
                .withTimeSource(time);
        AtomicInteger calls = new AtomicInteger();
        try (ThreadScope scope = ThreadScope.open("s", options)) {
            assertThat(scope.scheduler()).isSameAs(steps);
            assertThat(scope.tasks.options.failurePolicy).isEqualTo(FailurePolicy.SUPERVISOR);
            assertThat(scope.remaining()).contains(SECOND);
            Task<String> task = ScopedValue.where(tenant, "a")
                    .call(() -> scope.submit("t", () -> {
                        if (calls.incrementAndGet() == 1) {
                            throw new IllegalStateException("first attempt");
                        }
                        return tenant.get();
                    }));
            Task<String> waits = scope.submit("waits", () -> "never");
            steps.runAll();
            assertThat(task.await()).isEqualTo("a");
            assertThat(waits.await()).isEqualTo("never");
            assertThat(((ScopeRun<?>) task).priority()).isEqualTo(TaskPriority.HIGH.rank());
        }
        assertThat(events)
                .containsExactly(
                        "captured",
                        "listener of t",
                        "captured",
                        "listener of waits",
                        "hook of t",
                        "sink",
                        "hook of waits",
                        "sink");
    }

    @Test
    void options_can_be_used_by_any_number_of_scopes_and_do_not_change() throws Exception {
        ScopeOptions options = ScopeOptions.defaults().withTimeSource(time).withDeadline(SECOND);
        assertThat(options.withDeadline(SECOND.multipliedBy(9)).withConcurrencyLimit(1))
                .isNotSameAs(options);
        try (ThreadScope first = ThreadScope.open("first", options)) {
            first.withFailurePolicy(FailurePolicy.SUPERVISOR);
            time.advance(SECOND.dividedBy(2));
            Task<Duration> inTask = first.submit(() -> {
                try (ThreadScope second = ThreadScope.open("second", options)) {
                    assertThat(second.tasks.options.failurePolicy).isEqualTo(FailurePolicy.FAIL_FAST);
                    return second.remaining().orElseThrow();
                }
            });
            assertThat(inTask.await()).as("not more than is left").isEqualTo(SECOND.dividedBy(2));
        }
        try (ThreadScope third = ThreadScope.open("third", options)) {
            assertThat(third.remaining()).as("from its opening on").contains(SECOND);
        }
    }

    @Test
    void options_with_another_time_source_than_the_enclosing_deadline_are_rejected_before_the_thread_is_entered() {
        ScopeOptions options = ScopeOptions.defaults().withTimeSource(new VirtualTime());
        try (ThreadScope outer = ThreadScope.open("outer").withTimeSource(time).withDeadline(SECOND)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> ThreadScope.open("inner", options))
                    .withMessageContaining("has a deadline on ");
            assertThat(ThreadScope.current()).contains(outer);
        }
    }

    // No remaining time.

    static Stream<Duration> spent() {
        return Stream.of(
                Duration.ZERO, Duration.ofNanos(-1), Duration.ofMillis(-107), Duration.ofSeconds(Long.MIN_VALUE));
    }

    private void endsAtOnce(ThreadScope scope) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Task<Integer> task = scope.submit("t", calls::incrementAndGet);
        assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
        assertThatThrownBy(task::await)
                .isInstanceOf(ScopeTimeoutException.class)
                .hasMessage("scope \"fan\" ran out of time after 0 ms; unfinished: nothing");
        assertThatThrownBy(() -> scope.awaitAll(task)).isInstanceOf(ScopeTimeoutException.class);
        assertThatThrownBy(() -> scope.join(JoinStrategy.firstSuccess(), List.of(calls::incrementAndGet)))
                .isInstanceOf(ScopeTimeoutException.class);
        assertThat(scope.schedule(Duration.ZERO, calls::incrementAndGet).isCancelled())
                .isTrue();
        assertThat(scope.openChannel(1).isClosed()).isTrue();
        assertThat(scope.token().isCancelled()).isTrue();
        assertThat(scope.remaining()).contains(Duration.ZERO);
        assertThat(scope.metrics().started()).isZero();
        assertThat(calls).hasValue(0);
    }

    @ParameterizedTest
    @MethodSource("spent")
    void a_scope_without_remaining_time_opens_and_its_tasks_are_out_of_time(Duration budget) throws Exception {
        try (ThreadScope scope = ThreadScope.open("fan").withDeadline(budget).withConcurrencyLimit(2)) {
            endsAtOnce(scope);
        }
        ScopeOptions options = ScopeOptions.defaults().withDeadline(budget);
        try (ThreadScope scope = ThreadScope.open("fan", options)) {
            endsAtOnce(scope);
        }
        try (ThreadScope later = ThreadScope.open("later")) {
            assertThat(later.submit(() -> "value").await()).isEqualTo("value");
        }
    }

    @Test
    void a_scope_inside_an_expired_one_opens_and_its_tasks_are_out_of_time() throws Exception {
        try (ThreadScope outer = ThreadScope.open("outer").withTimeSource(time).withDeadline(SECOND)) {
            time.advance(SECOND.multipliedBy(2));
            assertThat(outer.remaining()).contains(Duration.ZERO);
            try (ThreadScope scope = ThreadScope.open("fan")) {
                endsAtOnce(scope);
            }
            try (ThreadScope scope = ThreadScope.open("fan").withDeadline(SECOND)) {
                endsAtOnce(scope);
            }
        }
    }

    @Test
    void options_show_their_settings() {
        ScopeOptions options = ScopeOptions.defaults().withConcurrencyLimit(3).withDeadline(SECOND);
        assertThat(options.toString()).contains("concurrencyLimit=3", "deadline=PT1S", "FAIL_FAST", "1 attempt");

        ThreadFactory threads = Thread.ofVirtual().factory();
        StructuredScopeOptions structured = StructuredScopeOptions.defaults()
                .withThreadFactory(threads)
                .withPatience(SECOND)
                .withName("some-name");
        assertThat(structured.toString()).contains("some-name", threads.toString(), "PT1S");
    }
}
