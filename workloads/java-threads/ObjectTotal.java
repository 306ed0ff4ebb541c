/** A synchronized block around the update only (and the held work, where asked): private work runs side by side. */
final class ObjectTotal extends Total {
    private final Object monitor = new Object();
    private final int held;
    private long sum;

    ObjectTotal(int held) {
        this.held = held;
    }

    @Override
    long work(long state, long quanta, int quantum) {
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = Steps.walk(x, quantum);
            synchronized (monitor) {
                x = Steps.walk(x, held);
                sum += x;
            }
        }
        return x;
    }

    @Override
    long sum() {
        synchronized (monitor) {
            return sum;
        }
    }
}
