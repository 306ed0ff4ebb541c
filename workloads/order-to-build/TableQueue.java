package shop;

import java.sql.SQLException;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Messages that stand in a table and are dealt with by threads of this server. The queue in memory only says which to look
 * at; a message that could not be dealt with comes again.
 */
final class TableQueue implements Messages {
    private static final long AGAIN_MS = 50;

    private final LinkedBlockingQueue<Long> waiting = new LinkedBlockingQueue<>();

    @Override
    public void queue(Session session, long message, long order) throws SQLException {
        session.update("INSERT INTO message VALUES (?, ?, 0)", message, order);
    }

    @Override
    public void committed(long message) {
        waiting.add(message);
    }

    /** Waits for a message and has it dealt with. */
    void next(Manufacturing manufacturing) throws InterruptedException {
        long message = waiting.take();
        boolean isDone = false;
        try {
            manufacturing.buildFor(message);
            isDone = true;
        } catch (SQLException | Refused e) {
            System.err.println("message " + message + " waits: " + e.getMessage());
            Thread.sleep(AGAIN_MS);
        } finally {
            // After an Error too: large orders wait for those before them.
            if (!isDone) {
                waiting.add(message);
            }
        }
    }
}
