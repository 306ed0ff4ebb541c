package shop;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Builds items of parts: explodes the bill of material, takes parts, passes three stations, puts items into stock. */
final class Manufacturing {
    static final int STATIONS = 3;
    /** A step of a work order that fails, for a lock that is not given in time say, comes again so often. */
    private static final int ATTEMPTS = 20;
    private static final long AGAIN_MS = 50;

    private final Transactions transactions;
    private final Keys keys;
    private final Suppliers suppliers;
    private final Backlog backlog;
    private final EarlyMessages early = new EarlyMessages(EarlyMessages.LIMIT_MS);
    private final long stationMs;

    /** What is built: a work order, of an item, so many. */
    record Build(long work, long item, long quantity) {
    }

    Manufacturing(Transactions transactions, Keys keys, Suppliers suppliers, Backlog backlog, long stationMs) {
        this.transactions = transactions;
        this.keys = keys;
        this.suppliers = suppliers;
        this.backlog = backlog;
        this.stationMs = stationMs;
    }

    /** A work order from its begin to its end. */
    String build(long item, long quantity) throws SQLException, Refused {
        Build build = new Build(keys.next("work_order"), item, quantity);
        transactions.run(session -> begin(session, 0, List.of(build)));
        finish(List.of(build));
        return "work order " + build.work() + " finished";
    }

    /**
     * Builds what a large order asks for, a work order for each line; nothing if its message was dealt with before. One that
     * is there before its order is refused: it comes again.
     */
    void buildFor(long message) throws SQLException, Refused {
        List<Build> builds = transactions.run(session -> {
            List<Build> found = new ArrayList<>();
            if (session.update("UPDATE message SET is_done = 1 WHERE m_id = ? AND is_done = 0", message) == 1) {
                long order = session.count("SELECT o_id FROM message WHERE m_id = ?", message);
                for (long[] line : session.rows("SELECT i_id, quantity FROM order_line WHERE o_id = ? ORDER BY i_id, line",
                        order)) {
                    found.add(new Build(keys.next("work_order"), line[0], line[1]));
                }
                begin(session, order, found);
                early.found(message);
            } else {
                early.check(session, message);
            }
            return found;
        });
        if (!builds.isEmpty()) {
            finish(builds);
        }
        backlog.leave(message);
    }

    private Void begin(Session session, long order, List<Build> builds) throws SQLException, Refused {
        take(session, exploded(session, builds));
        List<Object[]> rows = new ArrayList<>();
        for (Build build : builds) {
            rows.add(new Object[] {build.work(), order, build.item(), build.quantity()});
        }
        session.updateAll("INSERT INTO work_order VALUES (?, ?, ?, ?, 0, 0)", rows);
        return null;
    }

    /** The parts of all builds together, in ascending order of their keys. */
    private static TreeMap<Long, Long> exploded(Session session, List<Build> builds) throws SQLException, Refused {
        TreeMap<Long, Long> needs = new TreeMap<>();
        for (Build build : builds) {
            List<long[]> parts = session.rows("SELECT p_id, quantity FROM bom WHERE i_id = ?", build.item());
            if (parts.isEmpty()) {
                throw new Refused(Refused.UNKNOWN, "item " + build.item() + " has no parts");
            }
            parts.forEach(part -> needs.merge(part[0], part[1] * build.quantity(), Long::sum));
        }
        return needs;
    }

    /** Whoever takes several parts takes them in this order, so that no two wait for each other. */
    private void take(Session session, TreeMap<Long, Long> needs) throws SQLException, Refused {
        TreeMap<Long, Long> low = new TreeMap<>();
        for (Map.Entry<Long, Long> need : needs.entrySet()) {
            long[] stock = session.row("part",
                    "SELECT on_hand, on_order, reorder_level, reorder_quantity FROM stock WHERE p_id = ? FOR UPDATE",
                    need.getKey());
            long left = stock[0] - need.getValue();
            if (left < 0) {
                throw new Refused(Refused.SHORT, "part " + need.getKey() + " is short");
            }
            boolean isLow = left <= stock[2] && stock[1] == 0;
            if (isLow) {
                low.put(need.getKey(), stock[3]);
            }
            session.update("UPDATE stock SET on_hand = ?, on_order = on_order + ? WHERE p_id = ?", left,
                    isLow ? stock[3] : 0L, need.getKey());
        }
        suppliers.order(session, low);
    }

    private void finish(List<Build> builds) throws SQLException, Refused {
        for (int station = 1; station <= STATIONS; station++) {
            long number = station;
            pause(stationMs);
            step(session -> pass(session, builds, number));
        }
        step(session -> {
            // Ascending, since the lines of an order are read so.
            for (Build build : builds) {
                session.update("UPDATE work_order SET is_done = 1 WHERE w_id = ?", build.work());
                session.update("UPDATE stock SET on_hand = on_hand + ? WHERE p_id = ?", build.quantity(), build.item());
            }
            return null;
        });
    }

    /**
     * One transaction. Its parts are taken: a work order that was begun has to come to its end. Within a transaction of the
     * caller nothing is done again: what was done of the step is not undone before all is, and the message comes again.
     */
    private void step(Transactions.Work<Void> work) throws SQLException, Refused {
        for (int left = ATTEMPTS - 1; ; left--) {
            try {
                transactions.run(work);
                return;
            } catch (SQLException e) {
                if (left == 0 || transactions.isJoining()) {
                    throw e;
                }
                System.err.println("a work order waits: " + e.getMessage());
                pause(AGAIN_MS);
            }
        }
    }

    private static Void pass(Session session, List<Build> builds, long station) throws SQLException {
        for (Build build : builds) {
            session.update("UPDATE work_order SET station = ? WHERE w_id = ?", station, build.work());
            session.update("INSERT INTO station_log VALUES (?, ?, ?)", build.work(), station, System.currentTimeMillis());
        }
        return null;
    }

    private static void pause(long ms) throws SQLException {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted between stations", e);
        }
    }
}
