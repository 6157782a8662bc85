package dev.raddle.cli.run;

/** What the display of a run does when this process gets a signal. */
public interface RunScreen {
    /** Without a display. */
    RunScreen NONE = new RunScreen() {
        @Override
        public boolean isLive() {
            return false;
        }

        @Override
        public void restore() {}

        @Override
        public void pause() {}

        @Override
        public void list() {}
    };

    /** Returns whether the terminal must be restored before this process stops. */
    boolean isLive();

    /** Restores the terminal before this process ends; called from any thread. */
    void restore();

    /** Restores the terminal until the next event or tick; called by the thread of the listeners. */
    void pause();

    /** Prints what runs and what waits; called by the thread of the listeners. */
    void list();
}
