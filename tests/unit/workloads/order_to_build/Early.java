package shop;

import java.sql.SQLException;

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
        Filled filled = new Filled(words, 2);
        Backlog backlog = new Backlog(1, Backlog.LIMIT_MS);
        Early early = new Early();
        early.manufacturing = new Manufacturing(filled.pool, filled.keys, filled.suppliers, backlog, 0);
        OrderEntry entry = new OrderEntry(filled.pool, filled.keys, early, backlog);
        entry.order(7, 10, 12, true);
        System.out.println("open "
                + filled.pool.run(session -> session.count("SELECT COUNT(*) FROM message WHERE is_done = 0")));
        // It has given its room back.
        entry.order(7, 10, 12, true);
        System.out.println(filled.audited(2));
        EarlyMessages impatient = new EarlyMessages(0);
        filled.pool.run(session -> {
            impatient.check(session, 999_999);
            return null;
        });
        System.out.println("given up");
    }
}
