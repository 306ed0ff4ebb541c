import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * When threads begin, by which plan, and how many were at work at the same time: a thread that ends before the last one
 * is created never competes with it.
 */
final class Crowd {
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    private Plan plan;
    private volatile boolean open;

    /** With {@code together}, nobody works before {@link #open}. */
    Crowd(boolean together, Plan plan) {
        this.plan = plan;
        open = !together;
    }

    /** Lets all of them begin. A latch would not: there each one wakes the next, and only once it has a CPU itself. */
    void open(Thread[] waiting, Plan divided) {
        if (!open) {
            plan = divided;
            open = true;
        }
        for (int i = 0; i < divided.threads; i++) {
            LockSupport.unpark(waiting[i]);
        }
    }

    /** Returns how the total is divided, once that is known. */
    Plan enter() {
        while (!open) {
            LockSupport.park(this);
        }
        peak.accumulateAndGet(now.incrementAndGet(), Math::max);
        return plan;
    }

    void leave() {
        now.decrementAndGet();
    }

    int peak() {
        return peak.get();
    }
}
