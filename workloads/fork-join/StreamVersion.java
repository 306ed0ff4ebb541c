import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinTask;
import java.util.stream.StreamSupport;

/** The same stream as the sequential one, parallel. Run by a worker, a stream divides itself for the worker's own pool. */
final class StreamVersion extends PooledVersion {
    StreamVersion(Work work, int parallelism) {
        super(work, parallelism);
    }

    @Override
    ForkJoinTask<Part> task(Spliterator.OfLong range) {
        Callable<Part> stream = () -> StreamSupport.longStream(range, true).collect(work::part, Part::add, Part::merge);
        return ForkJoinTask.adapt(stream);
    }
}
