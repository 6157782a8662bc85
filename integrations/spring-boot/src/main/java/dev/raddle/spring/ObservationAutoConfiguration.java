package dev.raddle.spring;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Configures an observation of each call of a method with {@link Grouped}, which becomes a span and a timer. */
@AutoConfiguration(
        after = RaddleAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
class ObservationAutoConfiguration {

    @Bean
    MethodObserver raddleMethodObserver(ObjectProvider<ObservationRegistry> registry) {
        return new ObservingCalls(registry.getObject());
    }

    /** The observation is current while the call is made, so it is the parent of what the method does. */
    private record ObservingCalls(ObservationRegistry registry) implements MethodObserver {
        @Override
        public @Nullable Object observe(GroupedMethod method, GroupedMethod.Call call) throws Exception {
            Observation observation = Observation.createNotStarted("raddle.grouped", registry)
                    .contextualName(method.toString())
                    .lowCardinalityKeyValue("method", method.toString())
                    .start();
            boolean goesOn = false;
            try (Observation.Scope _ = observation.openScope()) {
                Object result = method.call(noting(observation, call));
                if (result instanceof GroupedFuture future) {
                    goesOn = true;
                    CompletableFuture<?> _ = future.whenComplete((value, failure) -> end(observation, failure));
                }
                return result;
            } catch (Throwable failure) {
                observation.error(failure);
                throw failure;
            } finally {
                if (!goesOn) {
                    observation.stop();
                }
            }
        }

        /** Returns the call with the event that ends the time in which it waited for its slot. */
        private static GroupedMethod.Call noting(Observation observation, GroupedMethod.Call call) {
            return call.with(() -> {
                observation.event(Observation.Event.of("started"));
                return call.body().call();
            });
        }

        private static void end(Observation observation, @Nullable Throwable failure) {
            if (failure != null) {
                observation.error(failure);
            }
            observation.stop();
        }
    }
}
