package shop;

import jakarta.ejb.ActivationConfigProperty;
import jakarta.ejb.EJB;
import jakarta.ejb.MessageDriven;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;
import java.sql.SQLException;

/** Builds what large orders ask for, in the transaction that takes the message; where it fails, the message comes again. */
@MessageDriven(activationConfig = {
    @ActivationConfigProperty(propertyName = "destinationLookup", propertyValue = "java:global/jms/shop"),
    @ActivationConfigProperty(propertyName = "destinationType", propertyValue = "jakarta.jms.Queue"),
    @ActivationConfigProperty(propertyName = "maxSession", propertyValue = "2")})
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
