import java.sql.SQLException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** Connections, each of one request at a time; further requests wait, those that came first first. */
final class Pool {
    /** A server of a database listens before it answers. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long PAUSE_MS = 20;

    private final BlockingQueue<Reader> free;
    private final Meter meter;

    /** Connects {@code size} times; {@link SQLException} where the database does not answer in time. */
    Pool(String address, int size) throws SQLException, InterruptedException {
        free = new ArrayBlockingQueue<>(size, true);
        meter = new Meter(size);
        long limit = System.nanoTime() + PATIENCE_NS;
        while (free.remainingCapacity() > 0) {
            free.add(connected(address, limit));
        }
    }

    private static Reader connected(String address, long limit) throws SQLException, InterruptedException {
        while (true) {
            try {
                return new Reader(address);
            } catch (SQLException e) {
                if (System.nanoTime() > limit) {
                    throw e;
                }
                Thread.sleep(PAUSE_MS);
            }
        }
    }

    /** Does something with a connection, after waiting for one. */
    <T> T with(Use<T> use) throws SQLException, InterruptedException {
        meter.waits();
        Reader reader = free.take();
        meter.takes();
        try {
            return use.of(reader);
        } finally {
            // Before another one can take it.
            meter.gives();
            free.add(reader);
        }
    }

    /** One line on how much of it is and was in use. */
    String told() {
        return meter.told();
    }

    /** What a request does while it has a connection. */
    interface Use<T> {
        T of(Reader reader) throws SQLException;
    }
}
