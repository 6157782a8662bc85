package dev.raddle.spring;

import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * The key of a method with {@link Grouped}. Parsed once; Spring compiles it when it has been evaluated often, and goes
 * on without the compiled form for values of another type.
 */
final class KeyExpression {

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private static final Set<String> ALWAYS_KNOWN = Set.of("root", "this");

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
            SpelExpression parsed = new SpelExpressionParser(configuration).parseRaw(text);
            requireKnown(parsed.getAST(), variables(method), method, text);
            return parsed;
        } catch (ParseException invalid) {
            throw new InvalidGroupedException(
                    "the key \"" + text + "\" of " + GroupedMethod.nameOf(method) + " must be an expression: "
                            + invalid.getMessage(),
                    invalid);
        }
    }

    /** Returns the names that a key may have after a #. */
    private static Set<String> variables(Method method) {
        Set<String> names = new LinkedHashSet<>();
        @Nullable String @Nullable [] parameters = NAMES.getParameterNames(method);
        for (int i = 0; parameters != null && i < parameters.length; i++) {
            String name = parameters[i];
            if (name != null) {
                names.add(name);
            }
        }
        for (int i = 0; i < method.getParameterCount(); i++) {
            names.add("p" + i);
            names.add("a" + i);
        }
        return names;
    }

    private static void requireKnown(SpelNode node, Set<String> names, Method method, String text) {
        if (node instanceof VariableReference || node instanceof FunctionReference) {
            String name = node.toStringAST().substring(1).split("\\(", 2)[0];
            if (!names.contains(name) && !ALWAYS_KNOWN.contains(name)) {
                throw new InvalidGroupedException("the key \"" + text + "\" of " + GroupedMethod.nameOf(method)
                        + " names #" + name + ", which is no parameter; there are " + names);
            }
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            requireKnown(node.getChild(i), names, method, text);
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
