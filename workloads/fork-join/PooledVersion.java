import java.util.Spliterator;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

/** A version whose work is done by the workers of one pool, while the client waits. */
abstract class PooledVersion extends Version {
    private final ForkJoinPool pool;

    PooledVersion(Work work, int parallelism) {
        super(work);
        pool = new ForkJoinPool(parallelism);
    }

    /** What a client submits. */
    abstract ForkJoinTask<Part> task(Spliterator.OfLong range);

    @Override
    final Part run(Spliterator.OfLong range) {
        return pool.invoke(task(range));
    }

    @Override
    final long steals() {
        return pool.getStealCount();
    }

    @Override
    final int workers() {
        return pool.getPoolSize();
    }
}
