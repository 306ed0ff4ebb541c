import java.util.concurrent.atomic.LongAdder;

/** A LongAdder: threads that meet move to numbers of their own, added up when read. The held work is outside. */
final class AdderTotal extends Total {
    private final LongAdder sum = new LongAdder();
    private final int held;

    AdderTotal(int held) {
        this.held = held;
    }

    @Override
    long work(long state, long quanta, int quantum) {
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = Steps.walk(x, quantum);
            x = Steps.walk(x, held);
            sum.add(x);
        }
        return x;
    }

    @Override
    long sum() {
        return sum.sum();
    }
}
