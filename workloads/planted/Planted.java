import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** One planted cause of lost CPU time in Java: Planted CAUSE THREADS STRENGTH [UNITS] (README.md). */
final class Planted {
    private static final int LOOPS = 120_000, LIVE = 1 << 20, OBJECTS = 20_000;
    private static final AtomicLong drawn = new AtomicLong(), lostNs = new AtomicLong();
    private static final Object monitor = new Object();
    private static final ReentrantLock lock = new ReentrantLock();
    private static final Object[] live = new Object[LIVE];
    private static volatile double sink;
    private static long units = 6_000;

    private Planted() {}

    static void compute(double loops) {
        double x = 1;
        for (long i = 0; i < (long) loops; i++)
            x = x * 1.0000001 + 1e-9;
        sink = x;
    }

    /** Work under one monitor; count the time until it is taken. */
    static void insertLocked(double loops) {
        long start = System.nanoTime();
        synchronized (monitor) {
            lostNs.addAndGet(System.nanoTime() - start);
            compute(loops);
        }
    }

    /** The same under a lock that parks threads. */
    static void insertParked(double loops) {
        long start = System.nanoTime();
        lock.lock();
        try {
            lostNs.addAndGet(System.nanoTime() - start);
            compute(loops);
        } finally {
            lock.unlock();
        }
    }

    /** Work while all other threads do not exist yet. */
    static void serialPhase(double loops) {
        compute(loops);
    }

    /** Replace a part of what lives: each collection marks or copies all of it. */
    static void allocateObjects(long unit, double strength) {
        for (int i = 0; i < OBJECTS * strength; i++)
            live[(int) ((unit * 31 + i) % LIVE)] = new long[8];
    }

    private static void run(String cause, double strength) {
        for (long unit = drawn.getAndIncrement(); unit < units; unit = drawn.getAndIncrement()) {
            boolean isUnit = Set.of("monitor", "lock", "gc", "serial").contains(cause);
            compute(LOOPS * (isUnit ? 1 - strength : 1));
            if (cause.equals("monitor"))
                insertLocked(LOOPS * strength);
            if (cause.equals("lock"))
                insertParked(LOOPS * strength);
            if (cause.equals("gc"))
                allocateObjects(unit, strength);
        }
    }

    private static double collectionS() {
        long ms = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans())
            ms += Math.max(0, collector.getCollectionTime());
        return ms / 1e3;
    }

    public static void main(String[] arguments) throws InterruptedException {
        String cause = arguments[0];
        int nThreads = Integer.parseInt(arguments[1]);
        double strength = Double.parseDouble(arguments[2]), idle = nThreads - 1, lost = 0;
        if (arguments.length > 3)
            units = Long.parseLong(arguments[3]);
        long start = System.nanoTime();
        if (cause.equals("serial")) {
            for (int i = 0; i < units; i++)
                serialPhase(LOOPS * strength);
            lost = idle * (System.nanoTime() - start) / 1e9;
        }
        Thread[] threads = new Thread[nThreads];
        for (int k = 0; k < nThreads; k++) {
            threads[k] = new Thread(() -> run(cause, strength));
            threads[k].start();
        }
        for (Thread thread : threads)
            thread.join();
        lost += lostNs.get() / 1e9 + (cause.equals("gc") ? idle * collectionS() : 0);
        System.out.printf(java.util.Locale.ROOT, "%.6f %.6f 0%n", (System.nanoTime() - start) / 1e9, lost);
    }
}
