import java.util.ArrayList;
import java.util.List;

/** One iteration: the watched thread (first) and its rivals, busy for the same time. */
final class Contest {
    final long startNs;
    final long endNs;
    final List<Contender> contenders = new ArrayList<>();

    /** Runs it. The caller's thread sleeps meanwhile. */
    Contest(int priority, int[] rivals, long windowNs) {
        Contender.Arena arena = new Contender.Arena(1 + rivals.length);
        contenders.add(new Contender(priority, arena));
        for (int rival : rivals) {
            contenders.add(new Contender(rival, arena));
        }
        contenders.forEach(Thread::start);
        startNs = arena.open(windowNs);
        contenders.forEach(Contest::join);
        endNs = System.nanoTime();
    }

    private static void join(Contender contender) {
        try {
            contender.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts here", e);
        }
        if (contender.kernel() == null || !contender.worked()) {
            throw new IllegalStateException(contender.getName() + ": ended early");
        }
    }

    long cpuNs() {
        return contenders.stream().mapToLong(Contender::cpuNs).sum();
    }

    /** The contender's part of the CPU time of all, in percent; {@code i} = 0 is the watched one. */
    double sharePercent(int i) {
        long all = cpuNs();
        return all == 0 ? 0 : 100.0 * contenders.get(i).cpuNs() / all;
    }
}
