package shop;

import java.sql.SQLException;
import java.util.Map;

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
        String url = new Arguments(words).url;
        Pool own = new Pool(url, 1);
        Pool pool = new Pool(url, 1);
        own.run(session -> {
            Schema.create(session);
            return Population.fill(session, 1);
        });
        Keys keys = new Keys(own);
        Backlog backlog = new Backlog(1, Backlog.LIMIT_MS);
        Joined joined = new Joined(pool);
        Manufacturing manufacturing = new Manufacturing(joined, keys, new Suppliers(joined, keys, 0), backlog, 0);
        new OrderEntry(pool, keys, new TableQueue(), backlog).order(7, 10, 12, true);
        long message = pool.run(session -> session.count("SELECT MAX(m_id) FROM message"));
        joined.deal(manufacturing, message);
        joined.deal(manufacturing, message);
        new Suppliers(pool, keys, 0).deliver();
        System.out.println(Audit.check(pool, Map.of("new_order", "0", "large_order", "1", "change_order", "0", "work_order",
                "0", "unknown", "0")));
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
