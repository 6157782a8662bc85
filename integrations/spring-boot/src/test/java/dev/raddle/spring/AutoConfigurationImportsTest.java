package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.type.filter.AnnotationTypeFilter;

class AutoConfigurationImportsTest {

    @Test
    void an_application_imports_each_auto_configuration_whose_conditions_hold_here() {
        ClassPathScanningCandidateComponentProvider scan = new ClassPathScanningCandidateComponentProvider(false);
        scan.addIncludeFilter(new AnnotationTypeFilter(AutoConfiguration.class));
        Set<String> declared = new TreeSet<>();
        scan.findCandidateComponents("dev.raddle.spring").forEach(each -> declared.add(each.getBeanClassName()));
        declared.remove(VirtualTimeAutoConfiguration.class.getName()); // which a test imports

        assertThat(declared).contains(RaddleAutoConfiguration.class.getName());
        assertThat(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader()))
                .containsAll(declared);
    }
}
