import java.util.Spliterator;

/** One way to do the whole task. Several clients may use it at the same time. */
abstract class Version {
    final Work work;

    Version(Work work) {
        this.work = work;
    }

    /** Does the work of all elements of {@code range} and returns when it is done. */
    abstract Part run(Spliterator.OfLong range);

    /** Subtasks that were taken by another worker than the one that made them, since the start. */
    long steals() {
        return 0;
    }

    /** Threads of the pool. */
    int workers() {
        return 0;
    }

    /** The version of that name, with a pool of {@code parallelism} where it needs one. */
    static Version of(String name, Work work, int parallelism) {
        switch (name) {
            case "sequential": return new SequentialVersion(work);
            case "stream": return new StreamVersion(work, parallelism);
            case "pool": return new PoolVersion(work, parallelism);
            default: throw new IllegalArgumentException("version: found " + name + ", expected sequential, stream or pool");
        }
    }
}
