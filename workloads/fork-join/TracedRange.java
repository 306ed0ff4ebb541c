import java.util.Comparator;
import java.util.Spliterator;
import java.util.function.LongConsumer;

/** Elements that tell a trace when a worker goes through what was left of them when nobody divided them further. */
final class TracedRange implements Spliterator.OfLong {
    private final Spliterator.OfLong range;
    private final Trace trace;

    TracedRange(Spliterator.OfLong range, Trace trace) {
        this.range = range;
        this.trace = trace;
    }

    @Override
    public void forEachRemaining(LongConsumer action) {
        long startNs = System.nanoTime();
        range.forEachRemaining(action);
        trace.saw(startNs);
    }

    @Override
    public Spliterator.OfLong trySplit() {
        Spliterator.OfLong first = range.trySplit();
        return first == null ? null : new TracedRange(first, trace);
    }

    @Override
    public boolean tryAdvance(LongConsumer action) {
        return range.tryAdvance(action);
    }

    @Override
    public long estimateSize() {
        return range.estimateSize();
    }

    @Override
    public Comparator<? super Long> getComparator() {
        return range.getComparator();
    }

    @Override
    public int characteristics() {
        return range.characteristics();
    }
}
