import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Asserts in a test, of JUnit or any other, that a method scales: it takes the number of threads.
 *
 * <p>Copy this file beside the tests. It needs {@code scalograph} on PATH. Each run starts a JVM with the class path of
 * this one; only the call is measured. It is aborted, not failed, where the speedup cannot be measured here.
 */
public final class Scales {
    private Scales() {}

    /** Asserts the speedup of {@code type.method(threads)} with the most threads over the fewest. */
    public static void assertScales(double atLeast, Class<?> type, String method, int... threads) throws Exception {
        List<String> words = new ArrayList<>(List.of("scalograph", "measure", "--events", "--wait-lock", "10m"));
        words.addAll(List.of("--threads", Arrays.stream(threads).mapToObj(String::valueOf).collect(Collectors.joining(","))));
        words.addAll(List.of("--at-least", String.valueOf(atLeast), "--"));
        words.addAll(List.of(System.getProperty("java.home") + "/bin/java", "-cp", System.getProperty("java.class.path")));
        words.addAll(List.of(Scales.class.getName(), type.getName(), method, "{threads}"));
        int code = new ProcessBuilder(words).inheritIO().start().waitFor();
        if (code == 8) {
            throw aborted(method + ": inconclusive on this machine");
        }
        if (code != 0) {
            throw new AssertionError(method + ": no speedup of " + atLeast + " (exit code " + code + ")");
        }
    }

    /** The exception by which JUnit 5 aborts a test, where it is there; else an assertion that failed. */
    private static Throwable abortion(String message) {
        try {
            Class<?> type = Class.forName("org.opentest4j.TestAbortedException");
            return (Throwable) type.getConstructor(String.class).newInstance(message);
        } catch (ReflectiveOperationException absent) {
            return new AssertionError(message);
        }
    }

    private static RuntimeException aborted(String message) {
        Throwable thrown = abortion(message);
        if (thrown instanceof RuntimeException) {
            return (RuntimeException) thrown;
        }
        throw (AssertionError) thrown;
    }

    private static Object newInstance(Class<?> type) throws ReflectiveOperationException {
        Constructor<?> made = type.getDeclaredConstructor();
        made.setAccessible(true);
        return made.newInstance();
    }

    /** One run: class, method, count. */
    public static void main(String[] words) throws Exception {
        Method method = Class.forName(words[0]).getDeclaredMethod(words[1], int.class);
        method.setAccessible(true);
        Object instance = Modifier.isStatic(method.getModifiers()) ? null : newInstance(method.getDeclaringClass());
        int threads = Integer.parseInt(words[2]);
        String events = System.getenv("SCALOGRAPH_EVENTS");
        try (OutputStream out = events == null ? OutputStream.nullOutputStream() : new FileOutputStream(events)) {
            out.write("ready\n".getBytes(StandardCharsets.US_ASCII));
            out.flush();
            if (events != null) {
                try (InputStream gate = new FileInputStream(System.getenv("SCALOGRAPH_GO"))) {
                    gate.read();
                }
            }
            long start = System.nanoTime(); // of CLOCK_MONOTONIC on Linux
            method.invoke(instance, threads);
            String window = "iteration 0 " + start + " " + System.nanoTime() + " 1\n";
            out.write(window.getBytes(StandardCharsets.US_ASCII));
        }
    }
}
