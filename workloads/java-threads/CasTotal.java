import java.util.concurrent.atomic.AtomicLong;

/** An atomic: read, add, compare and set, again until nobody came between. The held work is outside: nothing is held. */
final class CasTotal extends Total {
    private final AtomicLong sum = new AtomicLong();
    private final int held;

    CasTotal(int held) {
        this.held = held;
    }

    @Override
    long work(long state, long quanta, int quantum) {
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = Steps.walk(x, quantum);
            x = Steps.walk(x, held);
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
