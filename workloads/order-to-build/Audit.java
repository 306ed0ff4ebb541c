package shop;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** Compares the tables with each other and with what the driver was told. Told is the first thing that is wrong. */
final class Audit {
    private static final long LIMIT_MS = 60_000;
    private static final long POLL_MS = 20;

    /** What must come to zero. */
    private record Check(String what, String sql) {
    }

    /** What goes on after the last answer. */
    private static final List<Check> OPEN = List.of(
            new Check("messages are not dealt with", "SELECT COUNT(*) FROM message WHERE is_done = 0"),
            new Check("work orders are not finished", "SELECT COUNT(*) FROM work_order WHERE is_done = 0"),
            new Check("purchase orders have not arrived", "SELECT COUNT(*) FROM purchase_order WHERE is_done = 0"));

    private static final List<Check> CHECKS = List.of(
            new Check("orders differ from their lines", "SELECT COUNT(*) FROM orders o LEFT JOIN (SELECT o_id, COUNT(*) AS n,"
                    + " SUM(quantity * price) AS total FROM order_line GROUP BY o_id) l ON l.o_id = o.o_id"
                    + " WHERE l.n IS NULL OR l.n <> o.n_lines OR l.total <> o.total"),
            new Check("balances differ from orders", "SELECT COUNT(*) FROM customer c LEFT JOIN (SELECT c_id,"
                    + " SUM(total) AS total FROM orders GROUP BY c_id) o ON o.c_id = c.c_id"
                    + " WHERE c.balance <> COALESCE(o.total, 0)"),
            new Check("large orders have not one message", unbalanced("SELECT o_id AS k, is_large AS n FROM orders"
                    + " UNION ALL SELECT o_id, -1 FROM message")),
            new Check("messages were not built once", "SELECT COUNT(*) FROM message m JOIN orders o ON o.o_id = m.o_id"
                    + " LEFT JOIN (SELECT o_id, COUNT(*) AS n FROM work_order GROUP BY o_id) w ON w.o_id = m.o_id"
                    + " WHERE COALESCE(w.n, 0) <> o.n_lines"),
            new Check("work orders missed a station", "SELECT COUNT(*) FROM work_order w LEFT JOIN (SELECT w_id,"
                    + " COUNT(*) AS n FROM station_log GROUP BY w_id) s ON s.w_id = w.w_id WHERE COALESCE(s.n, 0) <> "
                    + Manufacturing.STATIONS),
            new Check("parts are negative or on order", "SELECT COUNT(*) FROM stock WHERE on_hand < 0 OR on_order <> 0"),
            new Check("items differ from what was built", unbalanced("SELECT s.p_id AS k, s.on_hand - s.initial AS n"
                    + " FROM stock s JOIN item i ON i.i_id = s.p_id"
                    + " UNION ALL SELECT i_id, -quantity FROM work_order WHERE is_done = 1")),
            new Check("parts differ from what came and went", unbalanced("SELECT s.p_id AS k, s.on_hand - s.initial AS n"
                    + " FROM stock s JOIN supplier_part f ON f.p_id = s.p_id"
                    + " UNION ALL SELECT p_id, -quantity FROM purchase_line"
                    + " UNION ALL SELECT m.p_id, m.quantity * w.quantity FROM work_order w JOIN bom m ON m.i_id = w.i_id"
                    + " WHERE w.is_done = 1")));

    /** What an operation leaves, by its name: each right answer must be there, and nothing that was not asked for. */
    private static final List<Check> LEFT = List.of(
            new Check("new_order", "SELECT COUNT(*) - " + Population.ORDERS + " FROM orders WHERE is_large = 0"),
            new Check("large_order", "SELECT COUNT(*) FROM orders WHERE is_large = 1"),
            new Check("change_order", "SELECT COALESCE(SUM(n_changes), 0) FROM orders"),
            new Check("work_order", "SELECT COUNT(*) FROM work_order WHERE o_id = 0"));

    private Audit() {
    }

    /** Counts those whose rows do not add up to nothing, in one pass: H2 would look up a joined sum anew for each row. */
    private static String unbalanced(String rows) {
        return "SELECT COUNT(*) FROM (SELECT k FROM (" + rows + ") r GROUP BY k HAVING SUM(n) <> 0) d";
    }

    /**
     * Checks everything, after what is still going on has come to an end.
     *
     * @param answered right answers of each operation, by its name; `unknown`: those that may be there or not
     */
    static String check(Transactions transactions, Map<String, String> answered) throws SQLException, Refused {
        settle(transactions);
        return transactions.run(session -> {
            for (Check check : CHECKS) {
                require(check, session.count(check.sql()));
            }
            long more = 0;
            for (Check left : LEFT) {
                more += surplus(left.what(), session.count(left.sql()), Operations.number(answered, left.what(), 0));
            }
            if (more > Operations.number(answered, "unknown", 0)) {
                throw new Refused(Refused.SHORT, more + " more are in the database than were asked for");
            }
            return "audited";
        });
    }

    private static long surplus(String what, long found, long answered) throws Refused {
        if (found < answered) {
            throw new Refused(Refused.SHORT, what + ": " + answered + " acknowledged, " + found + " in the database");
        }
        return found - answered;
    }

    private static void settle(Transactions transactions) throws SQLException, Refused {
        long until = System.currentTimeMillis() + LIMIT_MS;
        for (Check open : OPEN) {
            while (transactions.run(session -> session.count(open.sql())) > 0) {
                if (System.currentTimeMillis() > until) {
                    require(open, transactions.run(session -> session.count(open.sql())));
                }
                sleep();
            }
        }
    }

    private static void sleep() throws SQLException {
        try {
            Thread.sleep(POLL_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while it waited for the end of work", e);
        }
    }

    private static void require(Check check, long found) throws Refused {
        if (found != 0) {
            throw new Refused(Refused.SHORT, found + " " + check.what());
        }
    }
}
