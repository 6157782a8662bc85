package dev.raddle.spring;

/** Thrown at the start if the class path has a generation of Spring Boot for which the starter was not made. */
final class WrongGenerationException extends RuntimeException {

    private static final long serialVersionUID = 1;

    WrongGenerationException(String message) {
        super(message);
    }
}
