import java.util.Spliterator;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveTask;
import java.util.function.LongConsumer;

/** No stream: halves, each a task of its own, down to the size at which a stream would stop as well. */
final class PoolVersion extends PooledVersion {
    private static final int LEAVES_FOR_EACH_WORKER = 4;

    private final long leaf;

    PoolVersion(Work work, int parallelism) {
        super(work, parallelism);
        leaf = Math.max(1, work.n / (LEAVES_FOR_EACH_WORKER * parallelism));
    }

    @Override
    ForkJoinTask<Part> task(Spliterator.OfLong range) {
        return new Half(range);
    }

    private final class Half extends RecursiveTask<Part> {
        private static final long serialVersionUID = 1L;

        private final transient Spliterator.OfLong range;

        Half(Spliterator.OfLong range) {
            this.range = range;
        }

        @Override
        protected Part compute() {
            Spliterator.OfLong first = range.estimateSize() > leaf ? range.trySplit() : null;
            if (first == null) {
                Part part = work.part();
                range.forEachRemaining((LongConsumer) part::add);
                return part;
            }
            ForkJoinTask<Part> other = new Half(first).fork();
            Part part = compute();
            part.merge(other.join());
            return part;
        }
    }
}
