import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Arguments are {@code name=value}, in any order; what is not given has the default that workload.toml gives too. */
final class Arguments {
    private static final List<String> NAMES = Arrays.asList("threads", "lock", "kind", "carriers", "start", "refused", "units",
            "quantum", "held", "share", "prerun", "iterations", "think_ns");

    /** As many as a run may write, and some to spare. */
    private static final int MOST_FIGURES = 99_000;

    final int threads;
    final String lock;
    final String kind;
    final int carriers;
    final boolean together;
    final boolean fewer;
    final long units;
    final boolean each;
    final int quantum;
    final int held;
    final int prerun;
    final int iterations;
    final long thinkNs;

    Arguments(String[] words) {
        Map<String, String> given = parse(words);
        threads = (int) number(given, "threads", 1, 1, 100_000);
        lock = choice(given, "lock", "none", "none", "method", "coarse", "object", "cas", "reentrant", "adder");
        kind = choice(given, "kind", "platform", "platform", "virtual");
        carriers = (int) number(given, "carriers", 0, 0, 10_000);
        together = choice(given, "start", "together", "free", "together").equals("together");
        fewer = choice(given, "refused", "fail", "fail", "fewer").equals("fewer");
        units = number(given, "units", 60_000_000, 1, 1L << 50);
        quantum = (int) number(given, "quantum", 400, 1, 1 << 30);
        held = (int) number(given, "held", 0, 0, quantum);
        each = choice(given, "share", "divided", "divided", "each").equals("each");
        prerun = (int) number(given, "prerun", 6_000_000, 0, 1 << 30);
        iterations = (int) number(given, "iterations", 4, 1, 1_000_000);
        thinkNs = number(given, "think_ns", 0, 0, 1L << 50);
        if (fewer && (each || !together)) {
            throw new IllegalArgumentException("refused: found fewer, whose threads share a total that is divided when all"
                    + " are there; expected fail, or share=divided and start=together");
        }
        int figures = iterations + (each ? threads : 0);
        if (figures > MOST_FIGURES) {
            throw new IllegalArgumentException("iterations: found " + figures + " figures to write (one for each iteration"
                    + (each ? " and each thread" : "") + "), expected at most " + MOST_FIGURES);
        }
    }

    /** Units of one iteration, all threads together. */
    long total() {
        if (each && units % quantum != 0) {
            throw new IllegalArgumentException("units: found " + units + " for each thread, expected whole quanta of "
                    + quantum);
        }
        if (each && units > (1L << 50) / threads) {
            throw new IllegalArgumentException("units: found " + units + " for each of " + threads
                    + " threads, expected at most 2^50 together");
        }
        return each ? units * threads : units;
    }

    private static Map<String, String> parse(String[] words) {
        Map<String, String> given = new LinkedHashMap<>();
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

    private static long number(Map<String, String> given, String name, long fallback, long low, long high) {
        String text = given.getOrDefault(name, Long.toString(fallback));
        try {
            long value = Long.parseLong(text);
            if (value >= low && value <= high) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Told below, with the bounds.
        }
        throw new IllegalArgumentException(name + ": found " + text + ", expected an integer from " + low + " to " + high);
    }

    private static String choice(Map<String, String> given, String name, String fallback, String... known) {
        String text = given.getOrDefault(name, fallback);
        if (!Arrays.asList(known).contains(text)) {
            throw new IllegalArgumentException(name + ": found " + text + ", expected " + String.join(", ", known));
        }
        return text;
    }
}
