package shop;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** Does some business, spoils one thing after another in a transaction that is undone, and prints what the audit says. */
final class Spoiled {
    private static final List<String> SPOILERS = List.of(
            "UPDATE orders SET total = total + 1 WHERE o_id = 7",
            "DELETE FROM order_line WHERE o_id = 7 AND line = 1",
            "UPDATE customer SET balance = balance - 1 WHERE c_id = 7",
            "DELETE FROM message",
            "DELETE FROM work_order WHERE o_id <> 0",
            "DELETE FROM station_log WHERE station = 2",
            "UPDATE stock SET on_hand = -1 WHERE p_id = 1001",
            "UPDATE stock SET on_hand = on_hand + 1 WHERE p_id = 1001",
            "UPDATE stock SET on_hand = on_hand + 1 WHERE p_id = 3",
            "UPDATE stock SET initial = initial + 1 WHERE p_id = 1001",
            "UPDATE orders SET n_changes = n_changes - 1 WHERE n_changes > 0",
            "SELECT COUNT(*) FROM orders");

    private Spoiled() {
    }

    public static void main(String[] words) throws Exception {
        Filled filled = new Filled(words, 2);
        Pool pool = filled.pool;
        Keys keys = filled.keys;
        Suppliers suppliers = filled.suppliers;
        Backlog backlog = new Backlog(2, Backlog.LIMIT_MS);
        Manufacturing manufacturing = new Manufacturing(pool, keys, suppliers, backlog, 0);
        TableQueue queue = new TableQueue();
        Operations operations = new Operations(pool, new OrderEntry(pool, keys, queue, backlog), manufacturing);
        operations.answer("POST", "/orders", "customer=7&lines=3&draw=11");
        operations.answer("POST", "/large-orders", "customer=7&lines=12&draw=12");
        operations.answer("POST", "/changes", "order=7&draw=13");
        for (int i = 0; i < 30; i++) {
            operations.answer("POST", "/work-orders", "item=" + (1 + i % 3) + "&quantity=5");
        }
        queue.next(manufacturing);
        queue.committed(1_000_000);
        queue.next(manufacturing);
        suppliers.deliver();
        Map<String, String> answered = Map.of("new_order", "1", "large_order", "1", "change_order", "1", "work_order", "30",
                "unknown", "0");
        System.out.println(Audit.check(pool, answered));
        for (String spoiler : SPOILERS) {
            String said = pool.run(session -> told(session, spoiler, answered));
            System.out.println(said);
        }
        System.out.println(Audit.check(pool, answered));
        for (String query : List.of("new_order=2", "new_order=1&large_order=1&change_order=1&work_order=29&unknown=0")) {
            System.out.println(operations.answer("GET", "/audit", query + "&large_order=1&change_order=1&unknown=0").text());
        }
        System.out.println(operations.answer("POST", "/work-orders", "item=1&quantity=100000").text());
    }

    private static String told(Session session, String spoiler, Map<String, String> answered) throws SQLException {
        try {
            session.connection.createStatement().execute(spoiler);
            return Audit.check(new Transactions() {
                @Override
                public <T> T run(Work<T> work) throws SQLException, Refused {
                    return work.with(session);
                }
            }, answered);
        } catch (Refused e) {
            return e.getMessage();
        } finally {
            session.connection.rollback();
        }
    }
}
