package dev.raddle.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says in a few lines, instead of a stack trace, why an application with Raddle does not start. */
final class RaddleFailureAnalyzer extends AbstractFailureAnalyzer<RuntimeException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, RuntimeException cause) {
        InvalidPropertiesException properties = findCause(rootFailure, InvalidPropertiesException.class);
        if (properties != null) {
            return analysis(properties, "Correct the properties that begin with \"raddle\".");
        }
        InvalidGroupedException method = findCause(rootFailure, InvalidGroupedException.class);
        if (method != null) {
            return analysis(method, "Correct the annotation @Grouped.");
        }
        InvalidRegistrationException registration = findCause(rootFailure, InvalidRegistrationException.class);
        if (registration != null) {
            return analysis(registration, "Correct the beans of the type FlowRegistration.");
        }
        WrongGenerationException generation = findCause(rootFailure, WrongGenerationException.class);
        if (generation != null) {
            return analysis(
                    generation,
                    "Use the generation of Spring Boot for which the starter was made, and import its"
                            + " spring-boot-dependencies so that all modules have one version.");
        }
        return null;
    }

    private static FailureAnalysis analysis(RuntimeException failure, String action) {
        return new FailureAnalysis(String.valueOf(failure.getMessage()), action, failure);
    }
}
