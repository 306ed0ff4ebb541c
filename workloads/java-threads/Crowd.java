import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * When threads begin, and how many were at work at the same time: a thread that ends before the last one is created
 * never competes with it.
 */
final class Crowd {
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    private volatile boolean open;

    /** With {@code together}, nobody works before {@link #open}. */
    Crowd(boolean together) {
        open = !together;
    }

    /** Lets all of them begin. A latch would not: there each one wakes the next, and only once it has a CPU itself. */
    void open(Thread[] waiting) {
        open = true;
        for (Thread thread : waiting) {
            LockSupport.unpark(thread);
        }
    }

    void enter() {
        while (!open) {
            LockSupport.park(this);
        }
        peak.accumulateAndGet(now.incrementAndGet(), Math::max);
    }

    void leave() {
        now.decrementAndGet();
    }

    int peak() {
        return peak.get();
    }
}
