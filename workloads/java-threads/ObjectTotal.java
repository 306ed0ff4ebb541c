/** A synchronized block around the update and the last {@code held} units: the others run side by side. */
final class ObjectTotal extends Total {
    private final Object monitor = new Object();
    private final int held;
    private long sum;

    ObjectTotal(int held) {
        this.held = held;
    }

    @Override
    long work(long state, long quanta, int quantum) {
        int inside = Math.min(held, quantum);
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = Steps.walk(x, quantum - inside);
            synchronized (monitor) {
                x = Steps.walk(x, inside);
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
