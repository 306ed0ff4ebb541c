/**
 * How the fixed total is divided: by whole quanta, so that the lock is taken equally often whatever the number of
 * threads. Only the very last quantum may be shorter. Threads beyond the number of quanta get nothing to do.
 */
final class Plan {
    final int threads;
    final int quantum;
    final long quanta;
    final int lastQuantum;
    private final long[] starts;

    Plan(int threads, long units, int quantum) {
        this.threads = threads;
        this.quantum = quantum;
        this.quanta = (units - 1) / quantum + 1;
        this.lastQuantum = (int) (units - (quanta - 1) * quantum);
        this.starts = new long[threads + 1];
        for (int i = 0; i <= threads; i++) {
            starts[i] = Jump.by(unitsBefore(first(i)), Steps.START);
        }
    }

    /** First quantum of thread {@code i}; for {@code i = threads} the number of quanta. */
    long first(int i) {
        return quanta / threads * i + quanta % threads * i / threads;
    }

    /** The state in which thread {@code i} begins, which is where thread {@code i - 1} must end. */
    long start(int i) {
        return starts[i];
    }

    /** All units of an iteration: what WORK must come to. */
    long total() {
        return unitsBefore(quanta);
    }

    private long unitsBefore(long q) {
        long missing = q == quanta ? quantum - lastQuantum : 0;
        return q * quantum - missing;
    }
}
