import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;

/** A busy thread of one Java priority. Results are plain fields: they are read after the join. */
final class Contender extends Thread {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int STEPS_BETWEEN_LOOKS = 1000;

    private final Arena arena;
    private KernelThread kernel;
    private long cpuNs;
    private long state = 1;

    Contender(int priority, Arena arena) {
        super("priority-" + priority);
        this.arena = arena;
        setDaemon(true);
        setPriority(priority);
    }

    @Override
    public void run() {
        try {
            kernel = KernelThread.self();
        } finally {
            arena.arrive(); // or the others would wait for it for ever
        }
        arena.awaitStart();
        long before = THREADS.getCurrentThreadCpuTime();
        while (System.nanoTime() - arena.endNs() < 0) {
            state = burn(state);
        }
        cpuNs = THREADS.getCurrentThreadCpuTime() - before;
    }

    // The state is read by the next call and, at the end, by the main thread: the loop cannot be left out.
    private static long burn(long start) {
        long x = start;
        for (int i = 0; i < STEPS_BETWEEN_LOOKS; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    KernelThread kernel() {
        return kernel;
    }

    long cpuNs() {
        return cpuNs;
    }

    /** Never 0, because no step leads there; asked for so that the work counts. */
    boolean worked() {
        return state != 0;
    }

    /** Where contenders wait for each other, and learn when it ends. */
    static final class Arena {
        private final CountDownLatch waiting;
        private final CountDownLatch start = new CountDownLatch(1);
        private volatile long endNs;

        Arena(int contenders) {
            waiting = new CountDownLatch(contenders);
        }

        void arrive() {
            waiting.countDown();
        }

        void awaitStart() {
            await(start);
        }

        /** Lets all of them go, once all are there; returns when that was. */
        long open(long windowNs) {
            await(waiting);
            long now = System.nanoTime();
            endNs = now + windowNs;
            start.countDown();
            return now;
        }

        long endNs() {
            return endNs;
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts here", e);
            }
        }
    }
}
