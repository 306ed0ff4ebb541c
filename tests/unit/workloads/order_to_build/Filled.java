package shop;

import java.sql.SQLException;
import java.util.Map;

/** What a server has before its first request: a database that is filled, connections to it, keys, and suppliers. */
final class Filled {
    final Pool pool;
    final Keys keys;
    /** They need no time. */
    final Suppliers suppliers;

    Filled(String[] words, int connections) throws SQLException, Refused {
        String url = new Arguments(words).url;
        Pool own = new Pool(url, 1);
        own.run(session -> {
            Schema.create(session);
            return Population.fill(session, 1);
        });
        pool = new Pool(url, connections);
        keys = new Keys(own);
        suppliers = new Suppliers(pool, keys, 0);
    }

    /** What the audit says after so many large orders and nothing else. */
    String audited(int largeOrders) throws SQLException, Refused {
        suppliers.deliver();
        return Audit.check(pool, Map.of("new_order", "0", "large_order", Integer.toString(largeOrders), "change_order", "0",
                "work_order", "0", "unknown", "0"));
    }
}
