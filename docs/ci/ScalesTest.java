import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * A test of JUnit 5 that its method scales: {@code @ScalesTest(atLeast = 1.5) void solve(int threads) {...}}.
 *
 * <p>Copy this file beside Scales.java. Each run calls the method once, on a fresh instance in a fresh JVM: what a run
 * needs is made by the constructor, for no {@code @BeforeEach} is called. It passes, fails, or is aborted.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Test
@ExtendWith(ScalesTest.Runner.class)
public @interface ScalesTest {
    /** The numbers of threads; the speedup is that of the most over the fewest. */
    int[] threads() default {1, 2, 4};

    /** The least speedup. */
    double atLeast() default 1.5;

    /** Measures the method in place of calling it. */
    final class Runner implements InvocationInterceptor, ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == int.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return 0; // the method is not called here
        }

        @Override
        public void interceptTestMethod(
                Invocation<Void> call, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Exception {
            call.skip();
            ScalesTest test = method.getExecutable().getAnnotation(ScalesTest.class);
            Scales.assertScales(test.atLeast(), method.getTargetClass(), method.getExecutable().getName(), test.threads());
        }
    }
}
