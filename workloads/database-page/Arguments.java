import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Arguments are {@code name=value}, in any order; what is not given has the default that workload.toml gives too. */
final class Arguments {
    private static final List<String> NAMES = Arrays.asList(
            "port", "database", "database_port", "connections", "threads", "reads", "repeats");
    /** Addresses of the prepared database, by product; the port of its server comes between. */
    private static final Map<String, List<String>> ADDRESSES = Map.of(
            "h2", List.of("jdbc:h2:tcp://127.0.0.1:", "/./page;USER=bench"),
            "postgres", List.of("jdbc:postgresql://127.0.0.1:", "/postgres?user=bench"),
            "mariadb", List.of("jdbc:mariadb://127.0.0.1:", "/page?user=bench"));

    final int port;
    final String address;
    final int connections;
    final int threads;
    final int reads;
    final int repeats;

    Arguments(String[] words) {
        Map<String, String> given = parse(words);
        port = number(given, "port", 8080, 1, 65_535);
        String database = given.getOrDefault("database", "h2");
        if (!ADDRESSES.containsKey(database)) {
            throw new IllegalArgumentException("database: found " + database + ", expected h2, postgres or mariadb");
        }
        address = String.join(Integer.toString(number(given, "database_port", 9092, 1, 65_535)), ADDRESSES.get(database));
        connections = number(given, "connections", 1, 1, 1_000);
        threads = number(given, "threads", 15, 1, 10_000);
        reads = number(given, "reads", 2, 1, 1_000);
        repeats = number(given, "repeats", 20, 1, 1_000_000);
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
