package shop;

import jakarta.transaction.TransactionManager;
import javax.naming.InitialContext;
import javax.naming.NamingException;

/** What the business looks up in the server that it runs in: names are given to its JVM. */
final class Server {
    private Server() {
    }

    /** What stands under the name that a property tells. */
    static <T> T find(String property, Class<T> kind) {
        try {
            return kind.cast(new InitialContext().lookup(System.getProperty(property)));
        } catch (NamingException e) {
            throw new IllegalStateException(property + ": " + e, e);
        }
    }

    /** The transaction manager: under a name, or of a class of the server that hands it out. */
    static TransactionManager manager() {
        String name = System.getProperty("shop.manager");
        if (name.contains(":")) {
            return find("shop.manager", TransactionManager.class);
        }
        try {
            return (TransactionManager) Class.forName(name).getMethod("getTransactionManager").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("shop.manager: " + e, e);
        }
    }
}
