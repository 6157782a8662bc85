package dev.raddle.spring;

import java.util.List;

/** Thrown at the start if properties are out of range. Its analysis names each of them. */
final class InvalidPropertiesException extends RuntimeException {

    private static final long serialVersionUID = 1;

    InvalidPropertiesException(List<String> errors) {
        super(String.join("; ", errors));
    }
}
