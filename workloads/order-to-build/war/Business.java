package shop;

import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.annotation.Resource;
import jakarta.ejb.ConcurrencyManagement;
import jakarta.ejb.ConcurrencyManagementType;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.ejb.TransactionManagement;
import jakarta.ejb.TransactionManagementType;
import jakarta.enterprise.concurrent.ManagedScheduledExecutorService;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSDestinationDefinition;
import jakarta.jms.Queue;
import jakarta.transaction.TransactionManager;
import java.sql.SQLException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** The business on an application server: its tables are filled before the first request. */
@Singleton
@Startup
@ConcurrencyManagement(ConcurrencyManagementType.BEAN)
@TransactionManagement(TransactionManagementType.BEAN)
@JMSDestinationDefinition(name = "java:global/jms/shop", interfaceName = "jakarta.jms.Queue", destinationName = "shop")
public class Business {
    private static final long POLL_MS = 20;

    @Resource
    private ManagedScheduledExecutorService timer;

    private Manufacturing manufacturing;
    private Operations operations;
    private ScheduledFuture<?> deliveries;

    /** For the server. */
    public Business() {
    }

    @PostConstruct
    void open() {
        TransactionManager manager = Server.manager();
        DataSource source = Server.find("shop.source", DataSource.class);
        Transactions own = new JtaTransactions(manager, Server.find("shop.keys", DataSource.class), true);
        Transactions joining = new JtaTransactions(manager, source, false);
        try {
            own.run(session -> {
                Schema.create(session);
                return Population.fill(session, Long.getLong("shop.seed", 1));
            });
        } catch (SQLException | Refused e) {
            throw new IllegalStateException("database: " + e.getMessage(), e);
        }
        Keys keys = new Keys(own);
        Suppliers suppliers = new Suppliers(joining, keys, Long.getLong("shop.supplier_ms", 200));
        Backlog backlog = new Backlog(Integer.getInteger("shop.backlog", 20), Backlog.LIMIT_MS);
        manufacturing = new Manufacturing(joining, keys, suppliers, backlog, Long.getLong("shop.station_ms", 0));
        Messages messages = new JmsMessages(Server.find("shop.factory", ConnectionFactory.class),
                Server.find("shop.queue", Queue.class));
        operations = new Operations(joining, new OrderEntry(joining, keys, messages, backlog), manufacturing);
        deliveries = timer.scheduleWithFixedDelay(() -> deliver(suppliers), POLL_MS, POLL_MS, TimeUnit.MILLISECONDS);
    }

    @PreDestroy
    void close() {
        deliveries.cancel(true);
    }

    /** Whatever it fails by, it is called again: a timer that has thrown would not be. */
    private static void deliver(Suppliers suppliers) {
        try {
            suppliers.deliver();
        } catch (SQLException | Refused | RuntimeException | Error e) {
            System.err.println("a delivery waits: " + e);
        }
    }

    /** What requests ask for. */
    public Operations operations() {
        return operations;
    }

    /** What messages ask for. */
    public Manufacturing manufacturing() {
        return manufacturing;
    }
}
