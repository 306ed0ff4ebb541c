package shop;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Messages that are delivered before their order can be read: of one transaction over broker and database, the broker may
 * commit its part first. Such a message comes again, for so long at most: of a transaction that the database has undone
 * there will be no order.
 */
final class EarlyMessages {
    static final long LIMIT_MS = 10_000;

    private final long limitNs;
    /** When each was delivered first. */
    private final Map<Long, Long> since = new ConcurrentHashMap<>();

    EarlyMessages(long limitMs) {
        limitNs = TimeUnit.MILLISECONDS.toNanos(limitMs);
    }

    /** Its order was there. */
    void found(long message) {
        since.remove(message);
    }

    /** Of one that nobody could take: returns if it was dealt with before, or has come too long; else it is to come again. */
    void check(Session session, long message) throws SQLException, Refused {
        List<long[]> rows = session.rows("SELECT is_done FROM message WHERE m_id = ?", message);
        boolean isDone = !rows.isEmpty() && rows.get(0)[0] == 1;
        long first = since.computeIfAbsent(message, unused -> System.nanoTime());
        // Its order may have come to be there since.
        if (!isDone && (!rows.isEmpty() || System.nanoTime() - first < limitNs)) {
            throw new Refused(Refused.UNKNOWN, "its order is not there yet");
        }
        since.remove(message);
        if (!isDone) {
            System.err.println("message " + message + " is given up: it has no order");
        }
    }
}
