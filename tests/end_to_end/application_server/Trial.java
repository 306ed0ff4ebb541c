package shop;

import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.Queue;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.transaction.InvalidTransactionException;
import jakarta.transaction.SystemException;
import jakarta.transaction.Transaction;
import jakarta.transaction.TransactionManager;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/**
 * Makes happen on an application server what is rare: a message that is delivered before its order, which commits when it is
 * told; and statements beside all transactions.
 */
@WebServlet("/trial/*")
public class Trial extends HttpServlet implements Messages {
    private static final long serialVersionUID = 1L;

    private final transient TransactionManager manager = Server.manager();
    private final transient DataSource source = Server.find("shop.source", DataSource.class);
    private final transient CountDownLatch told = new CountDownLatch(1);

    /** For the server. */
    public Trial() {
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws ServletException {
        try {
            switch (request.getPathInfo()) {
                case "/early":
                    enter();
                    break;
                case "/commit":
                    told.countDown();
                    break;
                default:
                    carryOut(request.getParameter("sql"));
            }
        } catch (SQLException | Refused e) {
            throw new ServletException(e);
        }
    }

    private void enter() throws SQLException, Refused {
        Keys keys = new Keys(new JtaTransactions(manager, Server.find("shop.keys", DataSource.class), true));
        Transactions joining = new JtaTransactions(manager, source, false);
        new OrderEntry(joining, keys, this, new Backlog(1, Backlog.LIMIT_MS)).order(7, 10, 12, true);
    }

    /** Of an order whose message is sent by itself, as if the broker had committed first. */
    @Override
    public void queue(Session session, long message, long order) throws SQLException {
        session.update("INSERT INTO message VALUES (?, ?, 0)", message, order);
        try {
            Transaction open = manager.suspend();
            try (JMSContext context = Server.find("shop.factory", ConnectionFactory.class).createContext()) {
                context.createProducer().send(Server.find("shop.queue", Queue.class), Long.toString(message));
            } finally {
                manager.resume(open);
            }
            told.await();
        } catch (InvalidTransactionException | SystemException | InterruptedException e) {
            throw new SQLException(e);
        }
    }

    @Override
    public void committed(long message) {
        // It was sent before.
    }

    private void carryOut(String sql) throws SQLException {
        try (Connection connection = source.getConnection()) {
            connection.createStatement().execute(sql);
        }
    }
}
