package dev.raddle.spring;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * The key of a method with {@link Grouped}. Parsed once; Spring compiles it when it has been evaluated often, and goes
 * on without the compiled form for values of another type.
 */
final class KeyExpression {

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Method method;
    private final String text;
    private final @Nullable Expression expression; // null for a constant
    private final BeanFactoryResolver beans;

    KeyExpression(Method method, String text, BeanFactory beans) {
        this.method = method;
        this.text = text;
        this.beans = new BeanFactoryResolver(beans);
        this.expression = text.isEmpty() ? null : parse(method, text);
    }

    private static Expression parse(Method method, String text) {
        ClassLoader loader = method.getDeclaringClass().getClassLoader();
        SpelParserConfiguration configuration = new SpelParserConfiguration(SpelCompilerMode.MIXED, loader);
        try {
            return new SpelExpressionParser(configuration).parseExpression(text);
        } catch (ParseException invalid) {
            throw new InvalidGroupedException(
                    "the key \"" + text + "\" of " + GroupedMethod.nameOf(method) + " must be an expression: "
                            + invalid.getMessage(),
                    invalid);
        }
    }

    /** Returns the key of a call. */
    String of(@Nullable Object target, @Nullable Object[] arguments) {
        if (expression == null) {
            return GroupedMethod.nameOf(method);
        }
        Object root = target == null ? method : target;
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(root, method, arguments, NAMES);
        context.setBeanResolver(beans);
        Object key = expression.getValue(context);
        if (key == null) {
            throw new IllegalArgumentException(
                    "the key \"" + text + "\" of " + GroupedMethod.nameOf(method) + " must not be null");
        }
        return key.toString();
    }
}
