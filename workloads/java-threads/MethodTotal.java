/** A synchronized method that does the update and the last {@code held} units: the others run side by side. */
final class MethodTotal extends Total {
    private final int held;
    private long sum;

    MethodTotal(int held) {
        this.held = held;
    }

    @Override
    long work(long state, long quanta, int quantum) {
        int inside = Math.min(held, quantum);
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = lastUnits(Steps.walk(x, quantum - inside), inside);
        }
        return x;
    }

    private synchronized long lastUnits(long state, int inside) {
        long x = Steps.walk(state, inside);
        sum += x;
        return x;
    }

    @Override
    synchronized long sum() {
        return sum;
    }
}
