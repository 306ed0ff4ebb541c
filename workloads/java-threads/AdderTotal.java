import java.util.concurrent.atomic.LongAdder;

/** A LongAdder: threads that meet move to numbers of their own, added up when read. Nothing is held. */
final class AdderTotal extends Total {
    private final LongAdder sum = new LongAdder();

    @Override
    long work(long state, long quanta, int quantum) {
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = Steps.walk(x, quantum);
            sum.add(x);
        }
        return x;
    }

    @Override
    long sum() {
        return sum.sum();
    }
}
