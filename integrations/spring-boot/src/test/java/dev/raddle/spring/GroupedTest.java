package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;

class GroupedTest {

    private final VirtualTime time = new VirtualTime();
    private final CountDownLatch hold = new CountDownLatch(1);
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class, GroupedAutoConfiguration.class))
            .withBean(TimeSource.class, () -> time)
            .withPropertyValues(
                    "raddle.groups.tenants.max-concurrency=1",
                    "raddle.groups.tenants.queue-threshold=1",
                    "shop.patience=2s");

    // Methods that run in the caller's thread.

    @Test
    void a_method_runs_in_the_callers_thread_and_in_the_group_of_its_key() {
        shop((shop, executor) -> {
            Thread[] ranIn = new Thread[1];
            shop.place(new Order("acme"), () -> {
                ranIn[0] = Thread.currentThread();
                assertThat(executor.groupStats("acme").orElseThrow().activeCount())
                        .isEqualTo(1);
                return "placed";
            });
            assertThat(ranIn[0]).isEqualTo(Thread.currentThread());
            assertThat(executor.groupStats("acme").orElseThrow().activeCount()).isZero();
        });
    }

    @Test
    void keys_may_be_parameters_properties_constants_positions_and_the_name_of_the_method() {
        shop((shop, executor) -> {
            shop.place(new Order("acme"), () -> "");
            shop.byPosition("globex");
            shop.constant();
            shop.withoutKey();
            assertThat(executor.activeGroupKeys())
                    .containsExactlyInAnyOrder("acme", "globex", "mail", "Shop.withoutKey");
        });
    }

    @Test
    void a_key_is_right_also_after_it_was_compiled_and_for_another_type_of_argument() {
        shop((shop, executor) -> {
            for (int i = 0; i < 300; i++) {
                shop.any("text-" + i % 3);
            }
            shop.any(17L);
            assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("text-0", "text-1", "text-2", "17");
        });
    }

    @Test
    void a_null_key_is_refused() {
        shop((shop, executor) -> assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> shop.any(null))
                .withMessage("the key \"#key\" of Shop.any must not be null"));
    }

    @Test
    void checked_exceptions_and_errors_of_the_method_reach_the_caller_unchanged() {
        shop((shop, executor) -> {
            IOException checked = new IOException("disk");
            AssertionError error = new AssertionError();
            assertThat(catchThrowable(() -> shop.fails(checked))).isSameAs(checked);
            assertThat(catchThrowable(() -> shop.fails(error))).isSameAs(error);
        });
    }

    @Test
    void a_call_has_the_name_of_its_method_as_a_submitted_one_has() {
        shop((shop, executor) -> {
            fill(shop, "acme");
            Throwable rejected = catchThrowable(() -> shop.place(new Order("acme"), () -> "never"));
            hold.countDown();
            assertThat(rejected)
                    .hasMessageStartingWith(
                            "task \"Shop.place\" in group \"acme\" of executor \"tenants\" was rejected");
        });
    }

    @Test
    void a_call_that_the_full_group_does_not_accept_throws() {
        shop((shop, executor) -> {
            fill(shop, "acme");
            assertThatExceptionOfType(RejectedTaskException.class)
                    .isThrownBy(() -> shop.place(new Order("acme"), () -> "never"))
                    .satisfies(rejected -> assertThat(rejected.reason()).startsWith("group-queue"));
            assertThat(shop.place(new Order("globex"), () -> "other key")).isEqualTo("other key");
            hold.countDown();
        });
    }

    @Test
    void a_rejected_call_calls_the_private_method_that_the_annotation_names() {
        shop((shop, executor) -> {
            fill(shop, "acme");
            assertThat(shop.quote("acme", 5)).isEqualTo("no quote for acme, 5: group-queue");
            hold.countDown();
        });
    }

    @Test
    void a_rejection_that_the_method_itself_throws_is_not_replaced() {
        shop((shop, executor) -> {
            RejectedTaskException own = new RejectedTaskException(
                    "inner", "task", Rejection.of(Rejection.Reason.BULKHEAD, "of another executor"));
            assertThat(catchThrowable(() -> shop.quoteThrowing("acme", own))).isSameAs(own);
        });
    }

    @Test
    void a_call_waits_no_longer_than_its_queue_timeout_which_may_be_a_placeholder() throws Exception {
        shop((shop, executor) -> {
            Future<String> holder = hold(shop, "acme");
            FutureTask<String> waits = start(() -> shop.impatient("acme"));
            time.awaitAlarms(1);
            time.advance(Duration.ofSeconds(2));
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(waits::get)
                    .withCauseInstanceOf(RejectedTaskException.class);
            hold.countDown();
            holder.get();
        });
    }

    @Test
    void a_call_that_takes_longer_than_its_timeout_is_interrupted() {
        shop((shop, executor) -> {
            FutureTask<String> call = start(() -> shop.slow("acme", hold));
            time.awaitAlarms(1);
            time.advance(Duration.ofMillis(300));
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(call::get)
                    .withCauseInstanceOf(TaskTimeoutException.class);
        });
    }

    @Test
    void a_call_takes_as_many_slots_as_it_costs() {
        runner.withUserConfiguration(ShopConfiguration.class)
                .withPropertyValues("raddle.groups.tenants.max-concurrency=3")
                .run(context -> {
                    GroupExecutor executor = context.getBean(GroupExecutor.class);
                    int used = context.getBean(Shop.class)
                            .expensive(() ->
                                    executor.groupStats("big").orElseThrow().activeCount());
                    assertThat(used).isEqualTo(2);
                });
    }

    @Test
    void a_call_after_the_shutdown_is_rejected_as_such() {
        shop((shop, executor) -> {
            executor.shutdown();
            assertThatExceptionOfType(RejectedTaskException.class)
                    .isThrownBy(() -> shop.place(new Order("acme"), () -> "never"))
                    .satisfies(rejected -> assertThat(rejected.reason()).startsWith("shutdown"));
            assertThat(shop.later("acme", CompletableFuture.completedFuture("x")))
                    .failsWithin(Duration.ofSeconds(30));
        });
    }

    // Methods that are submitted.

    @Test
    void a_method_with_a_future_runs_in_another_thread_and_holds_its_slot_until_that_future_completes() {
        shop((shop, executor) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result = shop.later("acme", work);
            assertThat(shop.awaitThread()).isNotEqualTo(Thread.currentThread());
            assertThat(executor.groupStats("acme").orElseThrow().activeCount()).isEqualTo(1);
            assertThat(result).isNotDone();

            work.complete("done");
            assertThat(result.get()).isEqualTo("done");
            assertThat(executor.groupStats("acme").orElseThrow().activeCount()).isZero();
        });
    }

    @Test
    void a_failure_of_the_returned_future_is_the_failure_of_the_callers() {
        shop((shop, executor) -> {
            IOException failure = new IOException("disk");
            CompletableFuture<String> result = shop.later("acme", CompletableFuture.failedFuture(failure));
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(result::get)
                    .withCause(failure);
        });
    }

    @Test
    void stages_and_plain_futures_are_supported() throws Exception {
        shop((shop, executor) -> {
            assertThat(shop.stage("acme").toCompletableFuture().get()).isEqualTo("stage");
            assertThat(shop.future("acme").get()).isEqualTo("future");
        });
    }

    @Test
    void a_rejected_submission_completes_the_future_with_the_rejection() {
        shop((shop, executor) -> {
            fill(shop, "acme");
            CompletableFuture<String> result = shop.later("acme", new CompletableFuture<>());
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(result::get)
                    .withCauseInstanceOf(RejectedTaskException.class);
            hold.countDown();
        });
    }

    @Test
    void a_rejected_submission_completes_the_future_with_that_of_the_method_that_the_annotation_names() {
        shop((shop, executor) -> {
            fill(shop, "acme");
            assertThat(shop.laterOrNot("acme").get()).isEqualTo("not now, acme");
            hold.countDown();
        });
    }

    @Test
    void a_rejected_submission_does_not_wait_for_the_future_of_the_method_that_the_annotation_names() {
        shop((shop, executor) -> {
            fill(shop, "acme");
            CompletableFuture<String> instead = new CompletableFuture<>();
            FutureTask<CompletableFuture<String>> call = start(() -> shop.laterOrThis("acme", instead));
            try {
                CompletableFuture<String> result = call.get(30, TimeUnit.SECONDS);
                assertThat(result).isNotDone();
                instead.complete("instead");
                assertThat(result.get()).isEqualTo("instead");

                CompletableFuture<String> unwanted = new CompletableFuture<>();
                shop.laterOrThis("acme", unwanted).cancel(true);
                assertThat(unwanted).isCancelled();
            } finally {
                hold.countDown();
            }
        });
    }

    @Test
    void a_submission_after_the_shutdown_is_replaced_as_every_rejected_one() {
        shop((shop, executor) -> {
            executor.shutdown();
            assertThat(shop.laterOrNot("acme").get()).isEqualTo("not now, acme");
        });
    }

    @Test
    void cancelling_the_future_interrupts_the_task_and_cancels_the_future_that_it_waits_for() {
        shop((shop, executor) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result = shop.later("acme", work);
            shop.awaitThread();
            assertThat(result.cancel(true)).isTrue();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(work::join);
            assertThat(executor.awaitIdle(Duration.ofSeconds(30)))
                    .as("virtual time does not pass")
                    .isTrue();
        });
    }

    // Beans that exist as an interface only.

    @Test
    void a_client_that_is_a_proxy_of_its_interface_has_limits() {
        InvocationHandler handler = (proxy, method, arguments) -> method.isDefault()
                ? InvocationHandler.invokeDefault(proxy, method, arguments)
                : method.getName().equals("hashCode") ? 1 : "fetched";
        ProxyFactory ofSpring = new ProxyFactory(Client.class, (MethodInterceptor) call ->
                handler.invoke(((ProxyMethodInvocation) call).getProxy(), call.getMethod(), call.getArguments()));
        Object ofTheJdk = Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Client.class}, handler);
        for (Object client : new Object[] {ofSpring.getProxy(), ofTheJdk}) {
            runner.withBean(Client.class, () -> (Client) client).run(context -> {
                GroupExecutor executor = context.getBean(GroupExecutor.class);
                Client limited = context.getBean(Client.class);
                assertThat(limited.fetch("acme")).isEqualTo("fetched");
                assertThat(limited.ping()).isEqualTo("fetched");
                assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("acme", "Client.ping");
                executor.shutdown();
                assertThat(limited.fetch("acme")).isEqualTo("nothing for acme");
            });
        }
    }

    // What is reported at the start.

    @Test
    void a_private_method_prevents_the_start() {
        assertThat(failureWith(PrivateMethod::new))
                .isEqualTo("PrivateMethod.hidden with @Grouped must not be private, because calls of it do not go"
                        + " through the bean");
    }

    @Test
    void a_final_method_prevents_the_start() {
        assertThat(failureWith(FinalMethod::new)).contains("FinalMethod.sealed with @Grouped must not be final");
    }

    @Test
    void a_key_that_is_no_expression_prevents_the_start() {
        assertThat(failureWith(BadKey::new)).startsWith("the key \"#a.\" of BadKey.work must be an expression");
    }

    @Test
    void an_executor_that_does_not_exist_prevents_the_start() {
        assertThat(failureWith(NoExecutor::new))
                .isEqualTo("the executor \"nowhere\" of NoExecutor.work does not exist; set"
                        + " raddle.groups.nowhere.max-concurrency");
    }

    @Test
    void a_duration_that_is_none_prevents_the_start() {
        assertThat(failureWith(BadTimeout::new))
                .isEqualTo("the queueTimeout of BadTimeout.work must be a duration such as 500ms that is not negative,"
                        + " was \"soon\"");
    }

    @Test
    void a_method_for_rejected_calls_with_other_parameters_prevents_the_start() {
        assertThat(failureWith(BadFallback::new)).startsWith("the method \"instead\" for rejected calls of");
    }

    @Test
    void a_lazy_result_prevents_the_start() {
        assertThat(failureWith(LazyResult::new))
                .startsWith("the result of LazyResult.work with @Grouped must be a value")
                .endsWith("was Stream<String>");
        assertThat(failureWith(LazyNumbers::new)).endsWith("was IntStream");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "callable",
                "deferred",
                "webTask",
                "emitter",
                "streaming",
                "supplier",
                "iterator",
                "entityOfFlux",
                "entityOfFuture",
                "futureOfFlux",
                "futureOfEntity"
            })
    void a_result_whose_work_is_done_later_prevents_the_start(String name) throws Exception {
        Method method = LaterResults.class.getMethod(name);
        GroupedMethods methods = new GroupedMethods();
        methods.setBeanFactory(new DefaultListableBeanFactory());
        assertThatExceptionOfType(InvalidGroupedException.class)
                .isThrownBy(() -> methods.of(method, LaterResults.class))
                .withMessageStartingWith("the result of LaterResults." + name + " with @Grouped must be a value");
    }

    @Test
    void a_name_in_a_key_that_is_no_parameter_prevents_the_start() {
        assertThat(failureWith(MistypedKey::new))
                .isEqualTo("the key \"#tenat\" of MistypedKey.work names #tenat, which is no parameter; there are"
                        + " [tenant, p0, a0]");
        assertThat(failureWith(MistypedKeyInside::new)).contains(" names #b, which is no parameter");
    }

    @Test
    void an_annotation_that_has_the_annotation_is_as_good_as_it() {
        runner.withBean(Composed.class).run(context -> {
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            int running = context.getBean(Composed.class)
                    .work(
                            "acme",
                            () -> executor.groupStats("acme").orElseThrow().activeCount());
            assertThat(running).isEqualTo(1);
        });
    }

    @Test
    void an_interrupted_caller_keeps_its_interrupt_and_gets_an_exception_that_the_method_may_throw() {
        shop((shop, executor) -> {
            hold(shop, "acme");
            FutureTask<String> call = new FutureTask<>(() -> {
                Throwable thrown = catchThrowable(() -> shop.quote("acme", 1));
                return thrown.getClass().getSimpleName() + " "
                        + Thread.currentThread().isInterrupted();
            });
            Thread caller = Thread.startVirtualThread(call);
            caller.interrupt(); // before the wait or during it
            assertThat(call.get()).isEqualTo("CancellationException true");
            hold.countDown();
        });
    }

    // Threads of requests.

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void requests_on_platform_threads_that_may_all_wait_for_one_key_are_reported(CapturedOutput output) {
        String warning = "calls of Shop.any, Shop.byPosition, ";
        WebApplicationContextRunner web = new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class, GroupedAutoConfiguration.class))
                .withPropertyValues("raddle.groups.tenants.max-concurrency=1", "shop.patience=2s")
                .withBean(Shop.class);
        web.withPropertyValues("spring.threads.virtual.enabled=true").run(context -> {});
        web.withPropertyValues("raddle.groups.tenants.queue-threshold=50").run(context -> {});
        web.withPropertyValues("raddle.groups.tenants.global-queue-threshold=50")
                .run(context -> {});
        runner.withUserConfiguration(ShopConfiguration.class).run(context -> {});
        assertThat(output).doesNotContain(warning);
        web.run(context -> {});
        assertThat(output)
                .contains(warning)
                .contains("set spring.threads.virtual.enabled=true, or a queue-threshold")
                .doesNotContain("Shop.later");
    }

    @Test
    void a_method_that_another_thread_would_execute_after_its_slot_is_free_prevents_the_start() {
        runner.withUserConfiguration(Asynchronous.class)
                .withBean(FireAndForget.class)
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(analysis(context.getStartupFailure()).getDescription())
                            .startsWith("FireAndForget.work with @Grouped and @Async must return a CompletableFuture");
                });
        runner.withBean(FireAndForget.class).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void a_choice_between_several_executors_prevents_the_start() {
        runner.withBean(Shop.class)
                .withPropertyValues("raddle.groups.mail.max-concurrency=1")
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(analysis(context.getStartupFailure()).getDescription())
                            .contains("must name its executor, because there are several: [");
                });
    }

    @Test
    void annotations_have_no_effect_if_that_is_set() {
        runner.withBean(PrivateMethod.class)
                .withPropertyValues("raddle.grouped.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
    }

    // Fixtures.

    private interface Body {
        void run(Shop shop, GroupExecutor executor) throws Exception;
    }

    private void shop(Body body) {
        runner.withUserConfiguration(ShopConfiguration.class)
                .run(context -> body.run(context.getBean(Shop.class), context.getBean(GroupExecutor.class)));
    }

    /** Takes the only slot of a group, until the latch is released. */
    private Future<String> hold(Shop shop, String key) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        FutureTask<String> holder = start(() -> shop.place(new Order(key), () -> {
            begun.countDown();
            hold.await();
            return "held";
        }));
        begun.await();
        return holder;
    }

    /** Takes the only slot and the only place in the queue. */
    private void fill(Shop shop, String key) throws InterruptedException {
        hold(shop, key);
        shop.later(key, CompletableFuture.completedFuture("waits"));
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread.ofVirtual().start(task);
        return task;
    }

    private <T> String failureWith(Supplier<T> bean) {
        String[] description = new String[1];
        @SuppressWarnings("unchecked")
        Class<T> type = (Class<T>) bean.get().getClass();
        runner.withBean(type, bean).run(context -> {
            assertThat(context).hasFailed();
            description[0] = analysis(context.getStartupFailure()).getDescription();
        });
        return description[0];
    }

    private static FailureAnalysis analysis(Throwable failure) {
        FailureAnalysis analysis = new RaddleFailureAnalyzer().analyze(failure);
        assertThat(analysis).as("the analysis of %s", failure).isNotNull();
        return analysis;
    }

    record Order(String customer) {}

    interface Client {
        @Grouped(key = "#tenant", onReject = "nothing")
        String fetch(String tenant);

        @Grouped
        String ping();

        default String nothing(String tenant) {
            return "nothing for " + tenant;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Asynchronous {}

    static class FireAndForget {
        @Async
        @Grouped
        public void work() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class ShopConfiguration {
        @Bean
        Shop shop() {
            return new Shop();
        }
    }

    static class Shop {
        private final CountDownLatch begun = new CountDownLatch(1);
        private volatile Thread thread;

        public Thread awaitThread() throws InterruptedException {
            begun.await();
            return thread;
        }

        @Grouped(key = "#order.customer")
        public <T> T place(Order order, Callable<T> body) throws Exception {
            return body.call();
        }

        @Grouped(key = "#p0")
        public void byPosition(String tenant) {}

        @Grouped(key = "'mail'")
        public void constant() {}

        @Grouped(executor = "tenants")
        public void withoutKey() {}

        @Grouped(key = "#key")
        public void any(Object key) {}

        @Grouped
        public void fails(Throwable failure) throws Throwable {
            throw failure;
        }

        @Grouped(key = "#tenant", onReject = "noQuote")
        public String quote(String tenant, int amount) {
            return "a quote";
        }

        private String noQuote(String tenant, int amount, RejectedTaskException rejected) {
            return "no quote for " + tenant + ", " + amount + ": "
                    + rejected.rejection().reason();
        }

        @Grouped(key = "#tenant", onReject = "never")
        public String quoteThrowing(String tenant, RejectedTaskException failure) {
            throw failure;
        }

        private String never(String tenant, RejectedTaskException failure) {
            return "replaced";
        }

        @Grouped(key = "#tenant", queueTimeout = "${shop.patience}")
        public String impatient(String tenant) {
            return "had patience";
        }

        @Grouped(key = "#tenant", timeout = "300ms")
        public String slow(String tenant, CountDownLatch latch) throws InterruptedException {
            latch.await();
            return "in time";
        }

        @Grouped(key = "'big'", cost = 2)
        public <T> T expensive(Supplier<T> body) {
            return body.get();
        }

        @Grouped(key = "#tenant")
        public CompletableFuture<String> later(String tenant, CompletableFuture<String> work) {
            thread = Thread.currentThread();
            begun.countDown();
            return work;
        }

        @Grouped(key = "#tenant", onReject = "notNow")
        public CompletableFuture<String> laterOrNot(String tenant) {
            return CompletableFuture.completedFuture("later");
        }

        @Grouped(key = "#tenant", onReject = "instead")
        public CompletableFuture<String> laterOrThis(String tenant, CompletableFuture<String> instead) {
            return CompletableFuture.completedFuture("later");
        }

        CompletableFuture<String> instead(String tenant, CompletableFuture<String> instead) {
            return instead;
        }

        CompletableFuture<String> notNow(String tenant) {
            return CompletableFuture.completedFuture("not now, " + tenant);
        }

        @Grouped(key = "#tenant")
        public CompletionStage<String> stage(String tenant) {
            return CompletableFuture.completedStage("stage");
        }

        @Grouped(key = "#tenant")
        public Future<String> future(String tenant) {
            return CompletableFuture.completedFuture("future");
        }
    }

    static class PrivateMethod {
        @Grouped
        private void hidden() {}
    }

    static class FinalMethod {
        @Grouped
        public final void sealed() {}
    }

    static class BadKey {
        @Grouped(key = "#a.")
        public void work(String a) {}
    }

    static class NoExecutor {
        @Grouped(executor = "nowhere")
        public void work() {}
    }

    static class BadTimeout {
        @Grouped(queueTimeout = "soon")
        public void work() {}
    }

    static class BadFallback {
        @Grouped(onReject = "instead")
        public String work(String a) {
            return a;
        }

        String instead(int a) {
            return "" + a;
        }
    }

    static class LazyResult {
        @Grouped
        public Stream<String> work() {
            return Stream.of();
        }
    }

    static class LazyNumbers {
        @Grouped
        public IntStream work() {
            return IntStream.of();
        }
    }

    static class LaterResults {
        @Grouped
        public Callable<String> callable() {
            return () -> "";
        }

        @Grouped
        public DeferredResult<String> deferred() {
            return new DeferredResult<>();
        }

        @Grouped
        public WebAsyncTask<String> webTask() {
            return new WebAsyncTask<>(() -> "");
        }

        @Grouped
        public SseEmitter emitter() {
            return new SseEmitter();
        }

        @Grouped
        public StreamingResponseBody streaming() {
            return stream -> {};
        }

        @Grouped
        public Supplier<String> supplier() {
            return () -> "";
        }

        @Grouped
        public Iterator<String> iterator() {
            return Collections.emptyIterator();
        }

        @Grouped
        public ResponseEntity<Flux<String>> entityOfFlux() {
            return ResponseEntity.ok(Flux.empty());
        }

        @Grouped
        public ResponseEntity<CompletableFuture<String>> entityOfFuture() {
            return ResponseEntity.ok(new CompletableFuture<>());
        }

        @Grouped
        public CompletableFuture<Flux<String>> futureOfFlux() {
            return new CompletableFuture<>();
        }

        @Grouped
        public CompletionStage<ResponseEntity<StreamingResponseBody>> futureOfEntity() {
            return new CompletableFuture<>();
        }
    }

    static class MistypedKey {
        @Grouped(key = "#tenat")
        public void work(String tenant) {}
    }

    static class MistypedKeyInside {
        @Grouped(key = "#a == null ? 'none' : #a.trim() + '/' + {#p0, #b, #root, #this}")
        public void work(String a) {}
    }

    @Grouped
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @interface OfTenant {
        @AliasFor(annotation = Grouped.class, attribute = "key")
        String value();
    }

    static class Composed {
        @OfTenant("#tenant")
        public <T> T work(String tenant, Supplier<T> body) {
            return body.get();
        }
    }
}
