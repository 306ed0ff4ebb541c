import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that each think, shoot and wait for the result, again and again. They share one count of shots, so that all
 * are at it until the last: one that starves shoots less often instead of going on alone. What fails in one of them
 * ends the program.
 */
final class Clients {
    private final Version version;
    private final int n;
    private final long thinkNs;
    private final AtomicInteger left;

    Clients(Version version, int n, int shots, long thinkNs) {
        this.version = version;
        this.n = n;
        this.thinkNs = thinkNs;
        this.left = new AtomicInteger(shots);
    }

    /** All shots, in order of completion. */
    List<Shot> run() {
        List<List<Shot>> each = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int client = i;
            List<Shot> own = new ArrayList<>();
            each.add(own);
            threads.add(new Thread(() -> shoot(client, own)));
        }
        threads.forEach(Thread::start);
        threads.forEach(Clients::join);
        List<Shot> shots = new ArrayList<>();
        each.forEach(shots::addAll);
        shots.sort(Comparator.comparingLong(shot -> shot.endNs));
        return shots;
    }

    private void shoot(int client, List<Shot> shots) {
        while (left.getAndDecrement() > 0) {
            think(thinkNs);
            shots.add(new Shot(version, client));
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts here", e);
        }
    }

    /** Leaves the pool alone, so that its workers find nothing to do and go to sleep. */
    static void think(long ns) {
        long until = System.nanoTime() + ns;
        for (long rest = ns; rest > 0; rest = until - System.nanoTime()) {
            LockSupport.parkNanos(rest);
        }
    }
}
