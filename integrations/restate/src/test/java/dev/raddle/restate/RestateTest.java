package dev.raddle.restate;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** A test with a real {@link Engine}, which all tests of a JVM share. It is skipped if there is none. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RestateTest.Extension.class)
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@interface RestateTest {

    /** Starts the engine before the first test that needs it, and ends it after the last. */
    final class Extension implements ExecutionCondition, ParameterResolver {
        private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(Extension.class);

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            EngineBinary binary = binary(context);
            if (binary.isMissing()) {
                System.out.println("skipped: " + binary.problem());
                return ConditionEvaluationResult.disabled(binary.problem());
            }
            return ConditionEvaluationResult.enabled("Restate's server is there");
        }

        private static EngineBinary binary(ExtensionContext context) {
            return context.getRoot()
                    .getStore(NAMESPACE)
                    .computeIfAbsent("binary", unused -> EngineBinary.find(), EngineBinary.class);
        }

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == Engine.class
                    || parameter.getParameter().getType() == EngineBinary.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            EngineBinary binary = binary(context);
            return parameter.getParameter().getType() == EngineBinary.class
                    ? binary
                    : context.getRoot()
                            .getStore(NAMESPACE)
                            .computeIfAbsent("engine", unused -> Engine.start(binary.path(), Map.of()), Engine.class);
        }
    }
}
