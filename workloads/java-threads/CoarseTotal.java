/** A synchronized method around the whole quantum: work and update exclude all others. */
final class CoarseTotal extends Total {
    private long sum;

    @Override
    long work(long state, long quanta, int quantum) {
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = wholeQuantum(x, quantum);
        }
        return x;
    }

    private synchronized long wholeQuantum(long state, int quantum) {
        long x = Steps.walk(state, quantum);
        sum += x;
        return x;
    }

    @Override
    synchronized long sum() {
        return sum;
    }
}
