/** A synchronized method around the whole quantum: private work, held work and update all exclude each other. */
final class MethodTotal extends Total {
    private final int held;
    private long sum;

    MethodTotal(int held) {
        this.held = held;
    }

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
        x = Steps.walk(x, held);
        sum += x;
        return x;
    }

    @Override
    synchronized long sum() {
        return sum;
    }
}
