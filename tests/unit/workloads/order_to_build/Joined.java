package shop;

import java.sql.SQLException;

/**
 * A message that is dealt with in one transaction of its own, as an application server does it: its last step fails after it
 * has put items into stock. Prints what becomes of the message, and what the audit says after it came again.
 */
final class Joined implements Transactions {
    /** The message is taken, then three stations, then the stock. */
    private static final int LAST_STEP = 5;

    private final Pool pool;
    private Session outer;
    private int stepsLeft = LAST_STEP;

    private Joined(Pool pool) {
        this.pool = pool;
    }

    @Override
    public <T> T run(Work<T> work) throws SQLException, Refused {
        T result = work.with(outer);
        if (--stepsLeft == 0) {
            throw new SQLException("locked");
        }
        return result;
    }

    @Override
    public boolean isJoining() {
        return true;
    }

    public static void main(String[] words) throws Exception {
        Filled filled = new Filled(words, 1);
        Backlog backlog = new Backlog(1, Backlog.LIMIT_MS);
        Joined joined = new Joined(filled.pool);
        Suppliers suppliers = new Suppliers(joined, filled.keys, 0);
        Manufacturing manufacturing = new Manufacturing(joined, filled.keys, suppliers, backlog, 0);
        new OrderEntry(filled.pool, filled.keys, new TableQueue(), backlog).order(7, 10, 12, true);
        long message = filled.pool.run(session -> session.count("SELECT MAX(m_id) FROM message"));
        joined.deal(manufacturing, message);
        joined.deal(manufacturing, message);
        System.out.println(filled.audited(1));
    }

    private void deal(Manufacturing manufacturing, long message) throws Refused {
        try {
            pool.run(session -> {
                outer = session;
                manufacturing.buildFor(message);
                return null;
            });
            System.out.println("dealt with");
        } catch (SQLException e) {
            System.out.println(e.getMessage());
        }
    }
}
