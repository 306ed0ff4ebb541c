package shop;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** So many connections to a database; who finds none free waits. */
final class Pool implements Transactions {
    private final BlockingQueue<Session> free;

    Pool(String url, int size) throws SQLException {
        free = new ArrayBlockingQueue<>(size);
        for (int i = 0; i < size; i++) {
            Connection connection = DriverManager.getConnection(url);
            connection.setAutoCommit(false);
            free.add(new Session(connection));
        }
    }

    @Override
    public <T> T run(Work<T> work) throws SQLException, Refused {
        Session session = taken();
        boolean isDone = false;
        try {
            T result = work.with(session);
            session.connection.commit();
            isDone = true;
            return result;
        } finally {
            // Also where there is no database any more to undo it: who waits for a connection is to hear of that.
            try {
                if (!isDone) {
                    session.connection.rollback();
                }
            } finally {
                free.add(session);
            }
        }
    }

    private Session taken() throws SQLException {
        try {
            return free.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while it waited for a connection", e);
        }
    }
}
