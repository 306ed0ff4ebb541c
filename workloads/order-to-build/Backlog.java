package shop;

import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Messages that are queued and not dealt with yet: so many at most, as a broker whose queue is full holds back who sends.
 * Else orders are accepted faster than they are built, and what is put off is in no window.
 */
final class Backlog {
    private final Semaphore room;
    /** Those that have room. A message that is delivered twice gives room back once. */
    private final Set<Long> open = ConcurrentHashMap.newKeySet();

    Backlog(int most) {
        room = new Semaphore(most, true);
    }

    /** Waits until there is room. Who waits must hold no connection and no lock: those that make room need them. */
    void enter(long message) throws SQLException {
        try {
            room.acquire();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while it waited for room for a message", e);
        }
        open.add(message);
    }

    /** Lets in who waits longest: the message was dealt with, or never queued. */
    void leave(long message) {
        if (open.remove(message)) {
            room.release();
        }
    }
}
