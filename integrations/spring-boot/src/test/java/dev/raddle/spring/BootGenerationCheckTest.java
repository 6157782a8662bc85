package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;

class BootGenerationCheckTest {

    @Test
    void another_generation_prevents_the_start_with_its_version_and_what_to_do() {
        assertThatExceptionOfType(WrongGenerationException.class)
                .isThrownBy(() -> BootGenerationCheck.check("spring-boot", "3.5.9"))
                .withMessage("raddle-spring-boot-starter needs Spring Boot 4, but the class path has spring-boot 3.5.9")
                .satisfies(failure -> assertThat(new RaddleFailureAnalyzer()
                                .analyze(new IllegalStateException(failure))
                                .getAction())
                        .contains("spring-boot-dependencies"));
        assertThatExceptionOfType(WrongGenerationException.class)
                .isThrownBy(() -> BootGenerationCheck.check("spring-boot-autoconfigure", "40.1"));
    }

    @Test
    void an_unknown_version_and_the_right_one_are_accepted() {
        BootGenerationCheck.check("spring-boot", null);
        BootGenerationCheck.check("spring-boot", "4.0.0");
        assertThatCode(() -> new BootGenerationCheck().initialize(new GenericApplicationContext()))
                .doesNotThrowAnyException();
    }

    @Test
    void spring_finds_the_check() {
        assertThat(SpringFactoriesLoader.loadFactories(
                        ApplicationContextInitializer.class, getClass().getClassLoader()))
                .hasAtLeastOneElementOfType(BootGenerationCheck.class);
    }
}
