package dev.raddle.checks;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaFieldAccess;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.raddle.group.GroupExecutor;
import java.lang.invoke.VarHandle;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks the dependencies between the packages of core, and calls that no class of core may make. Each rule is
 * evaluated twice: on core, which obeys it, and on the classes below {@code dev.raddle.checks.sample}, which imitate a
 * core that breaks it.
 */
class ArchitectureTest {

    private static final String CORE = "dev.raddle";
    private static final String SAMPLE = "dev.raddle.checks.sample";

    private static final JavaClasses CORE_CLASSES = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/dev/raddle/checks/"))
            .importPackages(CORE);
    private static final JavaClasses SAMPLE_CLASSES = new ClassFileImporter().importPackages(SAMPLE);

    /** Every package of core, and the packages that it may import besides itself. */
    private static final Map<String, Set<String>> MAY_IMPORT = Map.ofEntries(
            Map.entry("lock", Set.of()),
            Map.entry("time", Set.of("lock")),
            Map.entry("task", Set.of("time")),
            Map.entry("kernel", Set.of("lock", "task", "time")),
            Map.entry("pool", Set.of("kernel", "lock", "task", "time")),
            Map.entry("scope", Set.of("kernel", "lock", "task", "time")),
            Map.entry("structured", Set.of("scope", "kernel", "task", "time")),
            Map.entry("group", Set.of("kernel", "task", "time")),
            Map.entry("flow", Set.of("flow.threads", "scope", "kernel", "lock", "task", "time")),
            Map.entry("flow.threads", Set.of("kernel", "lock", "task", "time")),
            Map.entry("testing", Set.of("task", "time")));

    /** Methods of {@link VarHandle} and of atomic classes that write. */
    private static final Pattern ATOMIC_WRITE = Pattern.compile(
            "(set|lazySet|compareAnd(Set|Exchange)|weakCompareAndSet|getAnd|increment|decrement|add|update).*");

    /** A rule for the packages below a root package. */
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
                new Rule("no class sleeps", root -> noClassCalls(root, Thread.class, "sleep")),
                new Rule(
                        "no class reads the wall clock", root -> noClassCalls(root, System.class, "currentTimeMillis")),
                new Rule("only time and its thread read the clock", ArchitectureTest::onlyTimeReadsTheClock),
                new Rule("one method adds suppressed exceptions", ArchitectureTest::suppressed),
                new Rule("threads are created only where the design says", ArchitectureTest::threads),
                new Rule("no static field can be written", ArchitectureTest::noMutableStatics),
                new Rule("a method that asks a question writes nothing", ArchitectureTest::questionsWriteNothing));
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

        assertThat(seen).contains(CORE + ".time", CORE + ".kernel", CORE + ".task", CORE + ".group", CORE + ".testing");
        assertThat(CORE_CLASSES.contain("dev.raddle.group.GroupExecutor")).isTrue();
        assertThat(CORE_CLASSES.get("dev.raddle.kernel.FairCap").getDirectDependenciesFromSelf())
                .isNotEmpty();
    }

    @Test
    void the_kernel_and_the_inner_packages_of_flow_are_not_exported() {
        ModuleDescriptor core = ModuleFinder.of(Path.of(URI.create(GroupExecutor.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toString())))
                .find(CORE)
                .orElseThrow()
                .descriptor();

        assertThat(core.exports().stream().map(ModuleDescriptor.Exports::source))
                .contains(CORE + ".group", CORE + ".task", CORE + ".time")
                .doesNotContain(CORE + ".kernel")
                .noneMatch(name -> name.startsWith(CORE + ".flow."));
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
                .allowEmptyShould(true); // some packages may not exist yet
    }

    private static ArchRule noCycles(String root) {
        return slices().matching(root + ".(**)").should().beFreeOfCycles();
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

    private static ArchRule noClassCalls(String root, Class<?> owner, String method) {
        return noClasses().should().accessTargetWhere(callOf(owner, method));
    }

    private static ArchRule onlyTimeReadsTheClock(String root) {
        return noClasses()
                .that()
                .resideOutsideOfPackages(root + ".time", root + ".lock")
                .should()
                .accessTargetWhere(callOf(System.class, "nanoTime"));
    }

    private static ArchRule suppressed(String root) {
        return noClasses()
                .that()
                .doNotHaveFullyQualifiedName(root + ".time.UserCode")
                .and()
                .doNotHaveFullyQualifiedName(root + ".scope.AggregateException") // adds to itself
                .should()
                .accessTargetWhere(callOf(Throwable.class, "addSuppressed"));
    }

    private static ArchRule threads(String root) {
        return noClasses()
                .that()
                .resideOutsideOfPackages(root + ".lock", root + ".pool", root + ".scope")
                .and()
                .doNotHaveFullyQualifiedName(root + ".task.VirtualThreads")
                .and()
                .doNotHaveFullyQualifiedName(root + ".testing.StepScheduler") // for a test that requests a thread
                .should()
                .accessTargetWhere(callOf(Thread.class, "<init>")
                        .or(callOf(Thread.class, "startVirtualThread"))
                        .or(callOf(Thread.class, "ofVirtual"))
                        .or(callOf(Thread.class, "ofPlatform"))
                        .or(describe("create an executor of threads", ArchitectureTest::createsExecutor)));
    }

    private static boolean createsExecutor(JavaAccess<?> access) {
        return access.getTargetOwner().isEquivalentTo(Executors.class)
                && access.getTarget().getName().startsWith("new");
    }

    private static ArchRule noMutableStatics(String root) {
        return fields().that().areStatic().should().beFinal();
    }

    private static ArchRule questionsWriteNothing(String root) {
        return methods()
                .that()
                .haveNameMatching("(is|has|can)(?!Next)[A-Z]\\w*")
                .should(new WriteNothing());
    }

    /** Holds for a method that neither assigns a field nor calls an atomic operation that writes. */
    private static final class WriteNothing extends ArchCondition<JavaMethod> {
        WriteNothing() {
            super("write nothing");
        }

        @Override
        public void check(JavaMethod method, ConditionEvents events) {
            method.getFieldAccesses().stream()
                    .filter(access -> access.getAccessType() == JavaFieldAccess.AccessType.SET)
                    .forEach(access -> events.add(SimpleConditionEvent.violated(method, access.getDescription())));
            method.getMethodCallsFromSelf().stream()
                    .filter(WriteNothing::writesAtomically)
                    .forEach(call -> events.add(SimpleConditionEvent.violated(method, call.getDescription())));
        }

        private static boolean writesAtomically(JavaMethodCall call) {
            String owner = call.getTargetOwner().getName();
            return (owner.equals(VarHandle.class.getName()) || owner.startsWith("java.util.concurrent.atomic."))
                    && ATOMIC_WRITE.matcher(call.getName()).matches();
        }
    }

    private static DescribedPredicate<JavaAccess<?>> callOf(Class<?> owner, String method) {
        return describe(
                "call " + owner.getSimpleName() + "." + method,
                access -> access.getTargetOwner().isAssignableTo(owner)
                        && access.getTarget().getName().equals(method));
    }
}
