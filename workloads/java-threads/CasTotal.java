import java.util.concurrent.atomic.AtomicLong;

/** An atomic: read, add, compare and set, again until nobody came between. Nothing is held. */
final class CasTotal extends Total {
    private final AtomicLong sum = new AtomicLong();

    @Override
    long work(long state, long quanta, int quantum) {
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = Steps.walk(x, quantum);
            add(x);
        }
        return x;
    }

    // Spelled out, because addAndGet is one instruction on some machines and never fails there.
    private void add(long x) {
        long seen;
        do {
            seen = sum.get();
        } while (!sum.compareAndSet(seen, seen + x));
    }

    @Override
    long sum() {
        return sum.get();
    }
}
