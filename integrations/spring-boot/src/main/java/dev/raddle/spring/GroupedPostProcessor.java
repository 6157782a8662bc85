package dev.raddle.spring;

import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;

/**
 * Puts an interceptor before each method with {@link Grouped}, outside of those that other libraries add, and checks
 * these methods when their bean has been created.
 */
final class GroupedPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

    private static final long serialVersionUID = 1;

    private final transient GroupedMethods methods;

    @SuppressWarnings("this-escape") // sets fields of the superclass, which has no other way
    GroupedPostProcessor(GroupedMethods methods, boolean proxyTargetClass) {
        this.methods = methods;
        setBeforeExistingAdvisors(true);
        setProxyTargetClass(proxyTargetClass);
        advisor = new DefaultPointcutAdvisor(new AnnotatedMethods(), new Interceptor(methods));
    }

    GroupedMethods methods() {
        return methods;
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        super.setBeanFactory(beanFactory);
        methods.setBeanFactory(beanFactory);
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        methods.check(AopUtils.getTargetClass(bean));
        return super.postProcessAfterInitialization(bean, beanName);
    }

    private static final class AnnotatedMethods extends StaticMethodMatcherPointcut {
        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            return GroupedMethods.annotationOf(method, targetClass) != null;
        }
    }

    private record Interceptor(GroupedMethods methods) implements MethodInterceptor {
        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            Object target = invocation.getThis();
            Class<?> type =
                    target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
            Callable<@Nullable Object> body = () -> proceed(invocation);
            GroupedMethod.Call call = new GroupedMethod.Call(objectOf(invocation), invocation.getArguments(), body);
            GroupedMethod method = methods.of(invocation.getMethod(), type);
            MethodObserver observer = methods.observer();
            return observer == null ? method.call(call) : observer.observe(method, call);
        }

        /** Returns the object with the other methods of the bean, which is the proxy if there is nothing behind it. */
        private static @Nullable Object objectOf(MethodInvocation invocation) {
            Object target = invocation.getThis();
            return target == null && invocation instanceof ProxyMethodInvocation call ? call.getProxy() : target;
        }

        private static @Nullable Object proceed(MethodInvocation invocation) throws Exception {
            try {
                return invocation.proceed();
            } catch (Throwable thrown) {
                throw GroupedMethod.asException(thrown);
            }
        }
    }
}
