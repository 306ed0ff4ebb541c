import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Arguments are {@code name=value}, in any order; what is not given has the default that workload.toml gives too. */
final class Arguments {
    private static final List<String> NAMES = Arrays.asList("server", "port", "threads", "kind", "carriers", "repeats");

    final String server;
    final int port;
    final int threads;
    final String kind;
    final int carriers;
    final int repeats;

    Arguments(String[] words) {
        Map<String, String> given = parse(words);
        server = given.getOrDefault("server", "jdk");
        if (server.isEmpty()) {
            throw new IllegalArgumentException("server: found nothing, expected jdk, jetty or tomcat");
        }
        port = number(given, "port", 8080, 1, 65_535);
        threads = number(given, "threads", 15, 1, 10_000);
        kind = given.getOrDefault("kind", "platform");
        if (!kind.equals("platform") && !kind.equals("virtual")) {
            throw new IllegalArgumentException("kind: found " + kind + ", expected platform or virtual");
        }
        carriers = number(given, "carriers", 0, 0, 10_000);
        repeats = number(given, "repeats", 100, 1, 1_000_000);
    }

    private static Map<String, String> parse(String[] words) {
        Map<String, String> given = new HashMap<>();
        for (String word : words) {
            String[] parts = word.split("=", 2);
            if (parts.length < 2 || !NAMES.contains(parts[0])) {
                throw new IllegalArgumentException("arguments: found " + word + ", expected NAME=VALUE with NAME one of "
                        + String.join(", ", NAMES));
            }
            given.put(parts[0], parts[1]);
        }
        return given;
    }

    private static int number(Map<String, String> given, String name, int fallback, int low, int high) {
        String text = given.getOrDefault(name, Integer.toString(fallback));
        try {
            int value = Integer.parseInt(text);
            if (value >= low && value <= high) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Told below, with the bounds.
        }
        throw new IllegalArgumentException(name + ": found " + text + ", expected an integer from " + low + " to " + high);
    }
}
