package shop;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Arguments are {@code name=value}, in any order; what is not given has the default that workload.toml gives too. */
final class Arguments {
    private static final List<String> NAMES = List.of("port", "address", "database", "database_port",
            "database_address", "state", "connections", "threads", "consumers", "backlog", "station_ms", "supplier_ms", "seed");

    final int port;
    final String address;
    final int connections;
    final int threads;
    final int consumers;
    final int backlog;
    final int stationMs;
    final int supplierMs;
    final int seed;
    /** Of JDBC. */
    final String url;

    Arguments(String[] words) {
        Map<String, String> given = parse(words);
        port = number(given, "port", 8080, 1, 65_535);
        address = given.getOrDefault("address", "127.0.0.1");
        connections = number(given, "connections", 16, 1, 1_000);
        threads = number(given, "threads", 40, 1, 10_000);
        consumers = number(given, "consumers", 2, 1, 100);
        backlog = number(given, "backlog", 20, 1, 1_000_000);
        stationMs = number(given, "station_ms", 0, 0, 60_000);
        supplierMs = number(given, "supplier_ms", 200, 0, 60_000);
        seed = number(given, "seed", 1, 0, Integer.MAX_VALUE);
        url = url(given.getOrDefault("database", "memory"), given);
    }

    private static String url(String database, Map<String, String> given) {
        switch (database) {
            case "memory":
                return "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000";
            case "file":
                return "jdbc:h2:file:" + given.getOrDefault("state", ".") + "/shop;LOCK_TIMEOUT=10000;DB_CLOSE_ON_EXIT=FALSE";
            case "postgres":
                return "jdbc:postgresql://" + given.getOrDefault("database_address", "127.0.0.1") + ":" + number(given, "database_port", 5432, 1, 65_535)
                        + "/postgres?user=bench&reWriteBatchedInserts=true";
            default:
                throw new IllegalArgumentException("database: found " + database + ", expected memory, file or postgres");
        }
    }

    private static Map<String, String> parse(String[] words) {
        Map<String, String> given = new HashMap<>();
        for (String word : words) {
            String[] parts = word.split("=", 2);
            if (parts.length < 2 || !NAMES.contains(parts[0])) {
                throw new IllegalArgumentException("arguments: found " + word + ", expected NAME=VALUE with NAME one of "
                        + String.join(", ", NAMES));
            }
            if (!parts[1].isEmpty()) {
                given.put(parts[0], parts[1]);
            }
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
