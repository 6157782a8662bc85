package dev.raddle.spring;

import org.springframework.context.SmartLifecycle;

/** A step of the application's shutdown. Not taken on a pause: what has ended cannot be restarted. */
abstract class ShutdownStep implements SmartLifecycle {

    private final int phase;
    private volatile boolean isRunning;

    ShutdownStep(int phase) {
        this.phase = phase;
    }

    /** Called after this has stopped to run. */
    abstract void end();

    @Override
    public final void start() {
        isRunning = true;
    }

    @Override
    public final void stop() {
        isRunning = false;
        end();
    }

    @Override
    public final boolean isRunning() {
        return isRunning;
    }

    @Override
    public final boolean isPauseable() {
        return false;
    }

    @Override
    public final int getPhase() {
        return phase;
    }
}
