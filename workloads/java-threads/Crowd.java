import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * When threads begin, and how many were at work at the same time: a thread that ends before the last one is created
 * never competes with it.
 */
final class Crowd {
    private final CountDownLatch latch;
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    /** With {@code together}, nobody works before {@link #open}. */
    Crowd(boolean together) {
        latch = new CountDownLatch(together ? 1 : 0);
    }

    void open() {
        latch.countDown();
    }

    void enter() {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts here", e);
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
