package dev.raddle.console;

/** What is watched of one kind. The sampler's thread calls these methods. */
interface Subject {

    /** Returns how many are watched. */
    int watched();

    /** Returns the numbers of them that the menu shows, as a record. */
    Object summary(long now);

    /** Adds what is wrong with them; the first screen shows the worst of all. */
    void findWrong(long now, Findings found);
}
