package shop;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Parts are ordered from who has them, and arrive later. */
final class Suppliers {
    private static final int AT_ONCE = 100;

    private final Transactions transactions;
    private final Keys keys;
    private final long delayMs;

    Suppliers(Transactions transactions, Keys keys, long delayMs) {
        this.transactions = transactions;
        this.keys = keys;
        this.delayMs = delayMs;
    }

    /** Orders parts, by supplier, in the transaction that found them low. */
    void order(Session session, SortedMap<Long, Long> low) throws SQLException, Refused {
        TreeMap<Long, List<Object[]>> lines = new TreeMap<>();
        for (Map.Entry<Long, Long> part : low.entrySet()) {
            long[] from = session.row("part", "SELECT s_id, price FROM supplier_part WHERE p_id = ?", part.getKey());
            lines.computeIfAbsent(from[0], unused -> new ArrayList<>())
                    .add(new Object[] {0L, part.getKey(), part.getValue(), from[1]});
        }
        for (Map.Entry<Long, List<Object[]>> supplier : lines.entrySet()) {
            long purchase = keys.next("purchase_order");
            supplier.getValue().forEach(line -> line[0] = purchase);
            session.update("INSERT INTO purchase_order VALUES (?, ?, ?, 0)", purchase, supplier.getKey(),
                    System.currentTimeMillis() + delayMs);
            session.updateAll("INSERT INTO purchase_line VALUES (?, ?, ?, ?)", supplier.getValue());
        }
    }

    /** Delivers what is due, each purchase order in a transaction of its own. */
    void deliver() throws SQLException, Refused {
        long now = System.currentTimeMillis();
        List<long[]> due = transactions.run(session -> session.rows(
                "SELECT b_id FROM purchase_order WHERE is_done = 0 AND due_ms <= ? ORDER BY due_ms LIMIT " + AT_ONCE, now));
        for (long[] purchase : due) {
            transactions.run(session -> arrive(session, purchase[0]));
        }
    }

    private static Void arrive(Session session, long purchase) throws SQLException {
        if (session.update("UPDATE purchase_order SET is_done = 1 WHERE b_id = ? AND is_done = 0", purchase) == 1) {
            for (long[] line : session.rows("SELECT p_id, quantity FROM purchase_line WHERE b_id = ? ORDER BY p_id",
                    purchase)) {
                session.update("UPDATE stock SET on_hand = on_hand + ?, on_order = on_order - ? WHERE p_id = ?", line[1],
                        line[1], line[0]);
            }
        }
        return null;
    }
}
