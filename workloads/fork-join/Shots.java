import java.util.Arrays;
import java.util.List;

/** What is said of the shots that count: each of them, and what a median over them hides. */
final class Shots {
    private Shots() {
    }

    static void write(Events events, List<Shot> shots, int clients) {
        long sumNs = 0;
        long[] eachNs = new long[shots.size()];
        long[] worstNs = new long[clients];
        int[] count = new int[clients];
        for (int i = 0; i < shots.size(); i++) {
            Shot shot = shots.get(i);
            events.iteration(i, shot);
            sumNs += shot.ns();
            eachNs[i] = shot.ns();
            worstNs[shot.client] = Math.max(worstNs[shot.client], shot.ns());
            count[shot.client]++;
        }
        events.value("mean_us", sumNs / 1e3 / shots.size());
        events.value("p99_over_median", atMost(eachNs, 0.99) / (double) atMost(eachNs, 0.5));
        for (int client = 0; client < clients; client++) {
            events.value("client_shots", count[client]);
            events.value("client_worst_us", worstNs[client] / 1e3);
        }
    }

    /** The time that this share of the shots does not exceed (nearest rank). */
    private static long atMost(long[] eachNs, double share) {
        long[] sorted = eachNs.clone();
        Arrays.sort(sorted);
        return sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
    }
}
