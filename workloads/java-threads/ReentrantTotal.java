import java.util.concurrent.locks.ReentrantLock;

/** A ReentrantLock (not fair) around the update and the last {@code held} units. */
final class ReentrantTotal extends Total {
    private final ReentrantLock lock = new ReentrantLock();
    private final int held;
    private long sum;

    ReentrantTotal(int held) {
        this.held = held;
    }

    @Override
    long work(long state, long quanta, int quantum) {
        int inside = Math.min(held, quantum);
        long x = state;
        for (long i = 0; i < quanta; i++) {
            x = Steps.walk(x, quantum - inside);
            lock.lock();
            try {
                x = Steps.walk(x, inside);
                sum += x;
            } finally {
                lock.unlock();
            }
        }
        return x;
    }

    @Override
    long sum() {
        lock.lock();
        try {
            return sum;
        } finally {
            lock.unlock();
        }
    }
}
