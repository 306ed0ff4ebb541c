package shop;

import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Queue;
import java.sql.SQLException;

/** Messages of an application server, sent in the transaction of their order; the row in the table is for the audit. */
final class JmsMessages implements Messages {
    private final ConnectionFactory factory;
    private final Queue queue;

    JmsMessages(ConnectionFactory factory, Queue queue) {
        this.factory = factory;
        this.queue = queue;
    }

    @Override
    public void queue(Session session, long message, long order) throws SQLException {
        session.update("INSERT INTO message VALUES (?, ?, 0)", message, order);
        try (JMSContext context = factory.createContext()) {
            context.createProducer().send(queue, Long.toString(message));
        } catch (JMSRuntimeException e) {
            throw new SQLException("message: " + e, e);
        }
    }

    @Override
    public void committed(long message) {
        // Delivered by the server, since its transaction has committed.
    }
}
