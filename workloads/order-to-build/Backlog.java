package shop;

import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Messages that are queued and not dealt with yet: so many at most, as a broker whose queue is full holds back who sends.
 * Else orders are accepted faster than they are built, and what is put off is in no window.
 */
final class Backlog {
    /** A driver gives a request up after 10 s: it has its answer before. */
    static final long LIMIT_MS = 8_000;

    private final int most;
    private final long limitMs;
    private final Semaphore room;
    /** Those that have room. A message that is delivered twice gives room back once. */
    private final Set<Long> open = ConcurrentHashMap.newKeySet();

    Backlog(int most, long limitMs) {
        this.most = most;
        this.limitMs = limitMs;
        room = new Semaphore(most, true);
    }

    /** Waits until there is room. Who waits must hold no connection and no lock: those that make room need them. */
    void enter(long message) throws SQLException, Refused {
        if (!hasRoom()) {
            throw new Refused(Refused.FULL, "no room for a large order within " + limitMs + " ms: " + most
                    + " messages are not dealt with");
        }
        open.add(message);
    }

    private boolean hasRoom() throws SQLException {
        try {
            return room.tryAcquire(limitMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while it waited for room for a message", e);
        }
    }

    /** Lets in who waits longest: the message was dealt with, or never queued. */
    void leave(long message) {
        if (open.remove(message)) {
            room.release();
        }
    }
}
