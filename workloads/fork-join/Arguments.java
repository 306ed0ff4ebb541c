import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Arguments are {@code name=value}, in any order; what is not given has the default that workload.toml gives too. */
final class Arguments {
    private static final List<String> NAMES = Arrays.asList("version", "n", "q", "p", "clients", "iterations", "prerun",
            "think_ns");

    final String version;
    final int n;
    final int q;
    final int p;
    final int clients;
    final int iterations;
    final int prerun;
    final long thinkNs;

    Arguments(String[] words) {
        Map<String, String> given = parse(words);
        version = choice(given, "version", "sequential", "sequential", "stream", "pool");
        n = (int) number(given, "n", 3000, 1, 1 << 24);
        q = (int) number(given, "q", 64, 0, 1 << 24);
        p = (int) number(given, "p", 1, 1, 1024);
        clients = (int) number(given, "clients", 1, 1, 256);
        iterations = (int) number(given, "iterations", 100, 1, 1_000_000);
        prerun = (int) number(given, "prerun", 1000, 0, 1_000_000);
        thinkNs = number(given, "think_ns", 0, 0, 1L << 50);
        if (iterations < clients) {
            throw new IllegalArgumentException("iterations: found " + iterations + " for " + clients
                    + " clients, expected at least one for each: they are shots of all clients together");
        }
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
