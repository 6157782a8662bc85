package program;

/** A service of the program. */
public interface Greeting {}
