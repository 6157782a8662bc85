package dev.raddle.checks;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Who may import whom in core, and what nobody there may do. Each rule is tried twice: on core, which obeys it, and on the
 * classes below {@code dev.raddle.checks.sample}, which stand for a core that breaks it.
 */
class ArchitectureTest {

    private static final String CORE = "dev.raddle";
    private static final String SAMPLE = "dev.raddle.checks.sample";

    private static final JavaClasses CORE_CLASSES = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/dev/raddle/checks/"))
            .importPackages(CORE);
    private static final JavaClasses SAMPLE_CLASSES = new ClassFileImporter().importPackages(SAMPLE);

    /** Every package of core, and what it may import besides itself. */
    private static final Map<String, Set<String>> MAY_IMPORT = Map.of(
            "time", Set.of(),
            "limit", Set.of("time"),
            "pool", Set.of("limit", "time"),
            "task", Set.of("pool", "limit", "time"),
            "scope", Set.of("task", "pool", "limit", "time"),
            "group", Set.of("task", "pool", "limit", "time"),
            "flow", Set.of("scope", "task", "pool", "limit", "time"),
            "testing", Set.of("task", "time"));

    /** A rule for whatever lies below a root package. */
    record Rule(String name, Function<String, ArchRule> below) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Rule> rules() {
        return Stream.of(
                new Rule("a package imports only those below it", ArchitectureTest::arrows),
                new Rule("packages have no cycles", ArchitectureTest::noCycles),
                new Rule("a package is one of those that the design names", ArchitectureTest::namedPackages),
                new Rule("no package is called internal", ArchitectureTest::noInternalPackage),
                new Rule("nothing but java.base is needed", ArchitectureTest::onlyJavaBase),
                new Rule("nobody sleeps", root -> nobodyCalls(root, Thread.class, "sleep")),
                new Rule("nobody reads the wall clock", root -> nobodyCalls(root, System.class, "currentTimeMillis")),
                new Rule("only time reads the clock", ArchitectureTest::onlyTimeReadsTheClock),
                new Rule("threads are made where the design says", ArchitectureTest::threads),
                new Rule("no static field can be written", ArchitectureTest::noMutableStatics));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void core_obeys_the_rule(Rule rule) {
        rule.below().apply(CORE).check(CORE_CLASSES);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void a_sample_that_breaks_the_rule_is_caught(Rule rule) {
        ArchRule broken = rule.below().apply(SAMPLE);

        assertThat(broken.evaluate(SAMPLE_CLASSES).hasViolation()).isTrue();
    }

    @Test
    void the_rules_see_the_classes_of_core() {
        Set<String> seen = Set.copyOf(
                CORE_CLASSES.stream().map(JavaClass::getPackageName).distinct().toList());

        assertThat(seen).contains(CORE + ".time", CORE + ".limit", CORE + ".task", CORE + ".group", CORE + ".testing");
        assertThat(CORE_CLASSES.contain("dev.raddle.group.GroupExecutor")).isTrue();
        assertThat(CORE_CLASSES.get("dev.raddle.kernel.FairCap").getDirectDependenciesFromSelf())
                .isNotEmpty();
    }

    private static ArchRule arrows(String root) {
        List<ArchRule> arrows = MAY_IMPORT.entrySet().stream()
                .map(arrow -> arrow(root, arrow.getKey(), arrow.getValue()))
                .toList();
        return CompositeArchRule.of(arrows);
    }

    private static ArchRule arrow(String root, String from, Set<String> to) {
        String[] allowed = Stream.concat(Stream.of(from), to.stream())
                .map(name -> root + "." + name)
                .toArray(String[]::new);
        return classes()
                .that()
                .resideInAPackage(root + "." + from)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(allowed).or(not(resideInAPackage(root + ".."))))
                .allowEmptyShould(true); // some packages are still to come
    }

    private static ArchRule noCycles(String root) {
        return slices().matching(root + ".(*)..").should().beFreeOfCycles();
    }

    private static ArchRule namedPackages(String root) {
        String[] named =
                MAY_IMPORT.keySet().stream().map(name -> root + "." + name).toArray(String[]::new);
        return classes().should().resideInAnyPackage(named);
    }

    private static ArchRule noInternalPackage(String root) {
        return noClasses().should().resideInAPackage("..internal..");
    }

    private static ArchRule onlyJavaBase(String root) {
        Set<String> javaBase = Object.class.getModule().getPackages();
        DescribedPredicate<JavaClass> known = describe(
                "reside in java.base or are annotations of JSpecify or the flight recorder, which may be absent",
                type -> javaBase.contains(type.getBaseComponentType().getPackageName())
                        || type.getBaseComponentType().isPrimitive()
                        || type.getPackageName().equals("org.jspecify.annotations")
                        || type.getPackageName().equals("jdk.jfr"));
        return classes().should().onlyDependOnClassesThat(known.or(resideInAPackage(root + "..")));
    }

    private static ArchRule nobodyCalls(String root, Class<?> owner, String method) {
        return noClasses().should().accessTargetWhere(callOf(owner, method));
    }

    private static ArchRule onlyTimeReadsTheClock(String root) {
        return noClasses()
                .that()
                .resideOutsideOfPackage(root + ".time")
                .should()
                .accessTargetWhere(callOf(System.class, "nanoTime"));
    }

    private static ArchRule threads(String root) {
        return noClasses()
                .that()
                .resideOutsideOfPackages(root + ".time", root + ".pool", root + ".scope")
                .and()
                .doNotHaveFullyQualifiedName(root + ".task.VirtualThreads")
                .and()
                .doNotHaveFullyQualifiedName(root + ".flow.AlarmThread")
                .and()
                .doNotHaveFullyQualifiedName(root + ".testing.StepScheduler") // for a test that asks for one
                .should()
                .accessTargetWhere(callOf(Thread.class, "<init>")
                        .or(callOf(Thread.class, "startVirtualThread"))
                        .or(callOf(Thread.class, "ofVirtual"))
                        .or(callOf(Thread.class, "ofPlatform"))
                        .or(describe("make an executor of threads", ArchitectureTest::makesAnExecutor)));
    }

    private static boolean makesAnExecutor(JavaAccess<?> access) {
        return access.getTargetOwner().isEquivalentTo(Executors.class)
                && access.getTarget().getName().startsWith("new");
    }

    private static ArchRule noMutableStatics(String root) {
        return fields().that().areStatic().should().beFinal();
    }

    private static DescribedPredicate<JavaAccess<?>> callOf(Class<?> owner, String method) {
        return describe(
                "call " + owner.getSimpleName() + "." + method,
                access -> access.getTargetOwner().isAssignableTo(owner)
                        && access.getTarget().getName().equals(method));
    }
}
