package shop;

import java.sql.SQLException;
import java.util.Map;

/**
 * A broker that delivers a message before the database has committed its order, and again only if it was refused. Prints what
 * becomes of the message, and what the audit says.
 */
final class Early implements Messages {
    private Manufacturing manufacturing;
    private boolean comesAgain;

    private Early() {
    }

    @Override
    public void queue(Session session, long message, long order) throws SQLException {
        session.update("INSERT INTO message VALUES (?, ?, 0)", message, order);
        deliver(message);
    }

    @Override
    public void committed(long message) {
        if (comesAgain) {
            deliver(message);
        }
    }

    private void deliver(long message) {
        try {
            manufacturing.buildFor(message);
            comesAgain = false;
            System.out.println("dealt with");
        } catch (SQLException | Refused e) {
            comesAgain = true;
            System.out.println(e.getMessage());
        }
    }

    public static void main(String[] words) throws Exception {
        String url = new Arguments(words).url;
        Pool own = new Pool(url, 1);
        Pool pool = new Pool(url, 2);
        own.run(session -> {
            Schema.create(session);
            return Population.fill(session, 1);
        });
        Keys keys = new Keys(own);
        Backlog backlog = new Backlog(1, Backlog.LIMIT_MS);
        Suppliers suppliers = new Suppliers(pool, keys, 0);
        Early early = new Early();
        early.manufacturing = new Manufacturing(pool, keys, suppliers, backlog, 0);
        OrderEntry entry = new OrderEntry(pool, keys, early, backlog);
        entry.order(7, 10, 12, true);
        System.out.println("open " + pool.run(session -> session.count("SELECT COUNT(*) FROM message WHERE is_done = 0")));
        // It has given its room back.
        entry.order(7, 10, 12, true);
        suppliers.deliver();
        System.out.println(Audit.check(pool, Map.of("new_order", "0", "large_order", "2", "change_order", "0", "work_order",
                "0", "unknown", "0")));
        EarlyMessages impatient = new EarlyMessages(0);
        pool.run(session -> {
            impatient.check(session, 999_999);
            return null;
        });
        System.out.println("given up");
    }
}
