package shop;

import jakarta.ejb.EJB;
import jakarta.ejb.MessageDriven;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;
import java.sql.SQLException;

/**
 * Builds what large orders ask for, in the transaction that takes the message; where it fails, the message comes again.
 * From which queue, and by how many, is told to the server (wildfly.py, liberty.py).
 */
@MessageDriven
public class Consumer implements MessageListener {
    @EJB
    private Business business;

    /** For the server. */
    public Consumer() {
    }

    @Override
    public void onMessage(Message message) {
        try {
            business.manufacturing().buildFor(Long.parseLong(message.getBody(String.class)));
        } catch (JMSException | SQLException | Refused e) {
            throw new IllegalStateException("a message waits: " + e.getMessage(), e);
        }
    }
}
