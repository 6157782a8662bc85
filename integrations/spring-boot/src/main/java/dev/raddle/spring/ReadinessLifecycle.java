package dev.raddle.spring;

import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationContext;

/** Makes the application refuse traffic, as the first step of its shutdown. */
final class ReadinessLifecycle extends ShutdownStep {

    private final ApplicationContext context;

    ReadinessLifecycle(ApplicationContext context) {
        super(DEFAULT_PHASE);
        this.context = context;
    }

    @Override
    void end() {
        AvailabilityChangeEvent.publish(context, ReadinessState.REFUSING_TRAFFIC);
    }
}
