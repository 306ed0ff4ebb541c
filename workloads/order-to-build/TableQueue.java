package shop;

import java.sql.SQLException;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Messages that stand in a table and are dealt with by threads of this server. The queue in memory only says which to look
 * at: it begins with all that the table holds, and a message that could not be dealt with comes again.
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

    /** Begins with what an earlier server left. */
    void restore(Transactions transactions) throws SQLException, Refused {
        for (long[] row : transactions.run(s -> s.rows("SELECT m_id FROM message WHERE is_done = 0 ORDER BY m_id"))) {
            waiting.add(row[0]);
        }
    }

    /** Waits for a message and has it dealt with. */
    void next(Manufacturing manufacturing) throws InterruptedException {
        long message = waiting.take();
        try {
            manufacturing.buildFor(message);
        } catch (SQLException | Refused e) {
            System.err.println("message " + message + " waits: " + e.getMessage());
            Thread.sleep(AGAIN_MS);
            waiting.add(message);
        }
    }
}
