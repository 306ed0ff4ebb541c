import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Busy threads of different Java priorities, competing: their nice values in the kernel, and their shares of CPU time. */
public final class JavaPriorities {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;
    private static final int SOFTWARE = 70;
    /** As many as a run may write, and some to spare; each contender has three in each iteration. */
    private static final int MOST_FIGURES = 99_000;
    private static final List<String> NAMES = Arrays.asList("priority", "rivals", "window_ms", "iterations", "think_ns");

    private JavaPriorities() {
    }

    /** Exit codes: 0 done, 64 arguments wrong, 69 the system gives no more threads, 70 a thread ended early. */
    public static void main(String[] words) throws IOException {
        try {
            run(parse(words));
        } catch (IllegalArgumentException e) {
            leave(e.getMessage(), USAGE);
        } catch (IllegalStateException e) {
            leave(e.getMessage(), SOFTWARE);
        } catch (OutOfMemoryError e) {
            leave("threads: the system gave no further one (" + e.getMessage()
                    + "); ask for fewer rivals or raise the limit (ulimit -u, pids.max)", UNAVAILABLE);
        }
    }

    private static void leave(String why, int code) {
        System.err.println(why);
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }

    private static void run(Map<String, String> given) throws IOException {
        int priority = (int) number("priority", given.getOrDefault("priority", "5"), Thread.MIN_PRIORITY, Thread.MAX_PRIORITY);
        int[] rivals = priorities(given.getOrDefault("rivals", "5"));
        long windowNs = 1_000_000 * number("window_ms", given.getOrDefault("window_ms", "500"), 10, 60_000);
        long iterations = number("iterations", given.getOrDefault("iterations", "1"), 1, 10_000);
        if (3 * (1 + rivals.length) * iterations > MOST_FIGURES) {
            throw new IllegalArgumentException("iterations: found " + iterations + " of " + (1 + rivals.length)
                    + " threads, expected at most " + MOST_FIGURES / 3 / (1 + rivals.length));
        }
        long thinkNs = number("think_ns", given.getOrDefault("think_ns", "0"), 0, 1L << 50);
        Events events = new Events();
        new Contest(Thread.NORM_PRIORITY, new int[0], 50_000_000); // compiles the loop
        events.ready();
        List<Contest> contests = new ArrayList<>();
        for (int i = 0; i < iterations; i++) {
            LockSupport.parkNanos(i == 0 ? 0 : thinkNs);
            contests.add(new Contest(priority, rivals, windowNs));
        }
        for (int i = 0; i < contests.size(); i++) {
            events.contest(i, contests.get(i));
        }
        events.value("believed_cpus", Runtime.getRuntime().availableProcessors());
        events.finish();
    }

    private static Map<String, String> parse(String[] words) {
        Map<String, String> given = new HashMap<>();
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals < 0 || !NAMES.contains(word.substring(0, equals))) {
                throw new IllegalArgumentException("arguments: found " + word + ", expected NAME=VALUE with NAME one of "
                        + String.join(", ", NAMES));
            }
            given.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return given;
    }

    private static int[] priorities(String text) {
        if (text.equals("none")) {
            return new int[0];
        }
        return Arrays.stream(text.split(",", -1))
                .mapToInt(word -> (int) number("rivals", word, Thread.MIN_PRIORITY, Thread.MAX_PRIORITY)).toArray();
    }

    private static long number(String name, String text, long low, long high) {
        try {
            long value = Long.parseLong(text.trim());
            if (value >= low && value <= high) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Told below, with the bounds.
        }
        throw new IllegalArgumentException(name + ": found " + text + ", expected an integer from " + low + " to " + high);
    }
}
