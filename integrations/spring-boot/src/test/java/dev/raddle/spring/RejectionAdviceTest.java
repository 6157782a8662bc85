package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.http.HttpStatus;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

class RejectionAdviceTest {

    private static final Set<Rejection.Reason> OF_THE_GROUP = EnumSet.of(
            Rejection.Reason.GROUP_QUEUE, Rejection.Reason.BULKHEAD, Rejection.Reason.RATE, Rejection.Reason.PERMITS);

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RaddleAutoConfiguration.class, RejectionWebAutoConfiguration.class, WebMvcAutoConfiguration.class))
            .withBean(Controller.class)
            .withPropertyValues("raddle.web.retry-after=1500ms");

    @Test
    void a_full_group_is_429_and_a_full_executor_is_503() {
        runner.run(context -> {
            MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
            for (Rejection.Reason reason : Rejection.Reason.values()) {
                boolean ofTheGroup = OF_THE_GROUP.contains(reason);
                assertThat(get(mvc, "/reject/" + reason.name()).getStatus())
                        .as(reason.name())
                        .isEqualTo(ofTheGroup ? 429 : 503);
            }
            assertThat(get(mvc, "/timeout").getStatus()).isEqualTo(503);
        });
    }

    @Test
    void the_answer_says_when_to_try_again_and_does_not_name_the_key() {
        runner.run(context -> {
            MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
            MockHttpServletResponse response = get(mvc, "/reject/GROUP_QUEUE");
            assertThat(response.getHeader("Retry-After")).isEqualTo("2");
            assertThat(response.getContentAsString())
                    .contains("Too many requests are in progress.")
                    .doesNotContain("secret");
        });
    }

    @Test
    void after_a_rejection_by_a_rate_the_answer_says_when_that_executor_may_start_the_next_task_of_the_key() {
        runner.withPropertyValues(
                        "raddle.groups.reports.rate=2/m burst 1",
                        "raddle.groups.reports.queue-threshold=0",
                        "raddle.groups.mails.rate=100/s burst 1",
                        "raddle.groups.mails.queue-threshold=0")
                .withBean(TimeSource.class, VirtualTime::new)
                .run(context -> {
                    MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
                    context.getBean("reports", GroupExecutor.class)
                            .submit("secret-tenant", "first", () -> "")
                            .await();
                    assertThat(get(mvc, "/run/reports").getHeader("Retry-After"))
                            .isEqualTo("30");
                    context.getBean(VirtualTime.class).advance(Duration.ofMillis(11_500));
                    MockHttpServletResponse response = get(mvc, "/run/reports");
                    assertThat(response.getHeader("Retry-After")).isEqualTo("19");
                    assertThat(response.getStatus()).isEqualTo(429);
                    assertThat(get(mvc, "/run/mails").getStatus()).isEqualTo(200);
                });
    }

    @Test
    void while_a_breaker_is_open_the_answer_says_when_its_next_probe_may_start() {
        runner.withPropertyValues("raddle.groups.calls.breaker.failure-rate=0.5")
                .withBean(TimeSource.class, VirtualTime::new)
                .run(context -> {
                    MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
                    context.getBean("calls", GroupExecutor.class).openBreaker("secret-tenant", Duration.ofSeconds(90));
                    context.getBean(VirtualTime.class).advance(Duration.ofMillis(11_500));

                    MockHttpServletResponse response = get(mvc, "/run/calls");

                    assertThat(response.getStatus()).isEqualTo(503);
                    assertThat(response.getHeader("Retry-After")).isEqualTo("79");
                });
    }

    @Test
    void a_queue_timeout_is_429_because_of_the_key_and_503_because_of_the_cap() {
        runner.withPropertyValues(
                        "raddle.groups.slow.max-concurrency=1",
                        "raddle.groups.slow.queue-timeout=0s",
                        "raddle.groups.rare.rate=1/h",
                        "raddle.groups.rare.queue-timeout=0s",
                        "raddle.groups.capped.max-concurrency=10",
                        "raddle.groups.capped.global-max-in-flight=1",
                        "raddle.groups.capped.queue-timeout=0s")
                .run(context -> {
                    MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
                    CountDownLatch end = new CountDownLatch(1);
                    context.getBean("rare", GroupExecutor.class)
                            .submit("secret-tenant", "first", () -> "")
                            .await();
                    for (String name : List.of("slow", "capped")) {
                        context.getBean(name, GroupExecutor.class).submit("secret-tenant", "first", () -> {
                            end.await();
                            return "";
                        });
                    }

                    assertThat(get(mvc, "/run/slow").getStatus()).isEqualTo(429);
                    assertThat(get(mvc, "/run/capped").getStatus()).isEqualTo(503);
                    MockHttpServletResponse byRate = get(mvc, "/run/rare");
                    assertThat(byRate.getStatus()).isEqualTo(429);
                    assertThat(Integer.parseInt(byRate.getHeader("Retry-After")))
                            .isBetween(3000, 3600);
                    end.countDown();
                });
    }

    @Test
    void a_deadline_of_a_scope_or_a_flow_is_503() {
        runner.run(context -> {
            MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
            assertThat(get(mvc, "/scope").getStatus()).isEqualTo(503);
            assertThat(get(mvc, "/flow").getStatus()).isEqualTo(503);
        });
    }

    @Test
    void a_rejection_inside_a_wrapper_is_found() {
        runner.run(context -> {
            MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
            assertThat(get(mvc, "/wrapped").getStatus()).isEqualTo(429);
        });
    }

    @Test
    void an_advice_of_the_application_wins() {
        runner.withBean(OwnAdvice.class).run(context -> {
            MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
            assertThat(get(mvc, "/reject/GROUP_QUEUE").getStatus()).isEqualTo(409);
        });
    }

    private static MockHttpServletResponse get(MockMvc mvc, String path) throws Exception {
        return mvc.perform(MockMvcRequestBuilders.get(path)).andReturn().getResponse();
    }

    @RestController
    static class Controller {
        private final Map<String, GroupExecutor> executors;

        Controller(Map<String, GroupExecutor> executors) {
            this.executors = executors;
        }

        @GetMapping("/reject/{reason}")
        String reject(@PathVariable("reason") Rejection.Reason reason) {
            throw new RejectedTaskException("secret-tenant", "task", Rejection.of(reason, "4 of 4 running"));
        }

        @GetMapping("/run/{executor}")
        String run(@PathVariable("executor") String executor) throws Exception {
            return executors.get(executor).call("secret-tenant", () -> "done");
        }

        @GetMapping("/scope")
        String scope() throws Exception {
            try (ThreadScope scope =
                    ThreadScope.open("page", ScopeOptions.defaults().withDeadline(Duration.ZERO))) {
                return scope.submit("never", () -> "").await();
            }
        }

        @GetMapping("/flow")
        String flow() throws Exception {
            FlowBuilder<Void> define = FlowPlan.define("page");
            Node<String> node = define.node("never", () -> "");
            return define.returning(node)
                    .run(null, RunOptions.timeout(Duration.ofNanos(1)))
                    .value();
        }

        @GetMapping("/wrapped")
        String wrapped() {
            throw new CompletionException(
                    new RejectedTaskException("a", "task", Rejection.of(Rejection.Reason.BULKHEAD, "1 of 1")));
        }

        @GetMapping("/timeout")
        String timeout() {
            throw new TaskTimeoutException("too late", "task", Duration.ofSeconds(1), 1, null);
        }
    }

    @ControllerAdvice
    static class OwnAdvice {
        @ExceptionHandler(RejectedTaskException.class)
        @ResponseStatus(HttpStatus.CONFLICT)
        void conflict() {}
    }
}
