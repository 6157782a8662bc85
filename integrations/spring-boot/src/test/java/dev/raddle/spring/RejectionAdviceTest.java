package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionException;
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
    void after_a_rejection_by_the_rate_of_a_key_the_answer_says_when_its_next_task_may_start() {
        runner.withPropertyValues("raddle.groups.tenants.rate=2/m burst 1", "raddle.groups.others.rate=1/h burst 1")
                .withBean(TimeSource.class, VirtualTime::new)
                .run(context -> {
                    MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
                    GroupExecutor tenants = context.getBean("tenants", GroupExecutor.class);
                    tenants.submit("secret-tenant", "first", () -> "").await();
                    assertThat(get(mvc, "/reject/RATE").getHeader("Retry-After"))
                            .isEqualTo("30");
                    tenants.submit("secret-tenant", "second", () -> "");
                    context.getBean(VirtualTime.class).advance(Duration.ofMillis(11_500));
                    assertThat(get(mvc, "/reject/RATE").getHeader("Retry-After"))
                            .isEqualTo("19");
                    tenants.shutdown();
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
        @GetMapping("/reject/{reason}")
        String reject(@PathVariable("reason") Rejection.Reason reason) {
            throw new RejectedTaskException("secret-tenant", "task", Rejection.of(reason, "4 of 4 running"));
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
