package dev.raddle.spring;

import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;

/** Makes the application refuse traffic, as the first step of its shutdown. */
final class ReadinessLifecycle implements SmartLifecycle {

    private final ApplicationContext context;
    private volatile boolean isRunning;

    ReadinessLifecycle(ApplicationContext context) {
        this.context = context;
    }

    @Override
    public void start() {
        isRunning = true;
    }

    @Override
    public void stop() {
        isRunning = false;
        AvailabilityChangeEvent.publish(context, ReadinessState.REFUSING_TRAFFIC);
    }

    @Override
    public boolean isRunning() {
        return isRunning;
    }

    @Override
    public boolean isPauseable() {
        return false;
    }

    @Override
    public int getPhase() {
        return DEFAULT_PHASE;
    }
}
