package dev.raddle.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Prevents the start with a generation of Spring Boot for which the starter was not made, before a missing class makes
 * it fail at random. Uses only types that all generations have.
 */
final class BootGenerationCheck implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final String GENERATION = "4";

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        check("spring-boot", SpringBootVersion.getVersion());
        check("spring-boot-autoconfigure", AutoConfiguration.class.getPackage().getImplementationVersion());
    }

    /**
     * Checks the version of a module.
     *
     * @param version the version, or null if it is unknown, as in a jar of classes from many libraries
     * @throws WrongGenerationException if it is of another generation
     */
    static void check(String module, @Nullable String version) {
        if (version != null && !version.startsWith(GENERATION + ".")) {
            throw new WrongGenerationException("raddle-spring-boot-starter needs Spring Boot " + GENERATION
                    + ", but the class path has " + module + " " + version);
        }
    }
}
