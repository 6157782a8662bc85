package program;

/** The provider of the service. */
public class Hello implements Greeting {}
