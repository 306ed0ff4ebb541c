package shop;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What customers ask for: new orders, changes, and how things stand. */
final class OrderEntry {
    private static final int MOST_QUANTITY = 9;
    private static final int SHOWN_ORDERS = 10;

    private final Transactions transactions;
    private final Keys keys;
    private final Messages messages;
    private final Backlog backlog;

    OrderEntry(Transactions transactions, Keys keys, Messages messages, Backlog backlog) {
        this.transactions = transactions;
        this.keys = keys;
        this.messages = messages;
        this.backlog = backlog;
    }

    /** Enters an order; a large one waits for room, and queues in the same transaction what is to be built for it. */
    String order(long customer, int lines, long draw, boolean isLarge) throws SQLException, Refused {
        Basket basket = new Basket(draw, lines);
        long order = keys.next("orders");
        long message = isLarge ? keys.next("message") : 0;
        if (isLarge) {
            backlog.enter(message);
        }
        boolean isEntered = false;
        try {
            long total = transactions.run(session -> {
                session.row("customer", "SELECT c_id FROM customer WHERE c_id = ?", customer);
                long sum = enter(session, order, customer, basket, isLarge);
                if (isLarge) {
                    messages.queue(session, message, order);
                }
                return sum;
            });
            isEntered = true;
            if (isLarge) {
                messages.committed(message);
            }
            return "order " + order + " accepted, total " + total;
        } finally {
            if (!isEntered) {
                backlog.leave(message);
            }
        }
    }

    /** Writes an order with its lines, and adds it to the balance of its customer; returns its total. */
    static long enter(Session session, long order, long customer, Basket basket, boolean isLarge) throws SQLException {
        List<Object[]> rows = new ArrayList<>();
        long total = 0;
        for (Basket.Line line : basket.lines) {
            long price = session.count("SELECT price FROM item WHERE i_id = ?", line.item());
            rows.add(new Object[] {order, rows.size() + 1L, line.item(), line.quantity(), price});
            total += price * line.quantity();
        }
        session.update("INSERT INTO orders VALUES (?, ?, ?, ?, ?, 0, ?)", order, customer, (long) rows.size(), total,
                isLarge ? 1L : 0L, System.currentTimeMillis());
        session.updateAll("INSERT INTO order_line VALUES (?, ?, ?, ?, ?)", rows);
        session.update("UPDATE customer SET balance = balance + ? WHERE c_id = ?", total, customer);
        return total;
    }

    /** Changes the quantity of one line. Orders are locked before customers, here as wherever both are. */
    String change(long order, long draw) throws SQLException, Refused {
        long total = transactions.run(session -> {
            long[] head = session.row("order", "SELECT c_id, n_lines, total FROM orders WHERE o_id = ? FOR UPDATE", order);
            long number = 1 + draw % head[1];
            long[] line = session.row("order", "SELECT quantity, price FROM order_line WHERE o_id = ? AND line = ?", order,
                    number);
            long quantity = 1 + draw / head[1] % MOST_QUANTITY;
            long more = (quantity - line[0]) * line[1];
            session.update("UPDATE order_line SET quantity = ? WHERE o_id = ? AND line = ?", quantity, order, number);
            session.update("UPDATE orders SET total = total + ?, n_changes = n_changes + 1 WHERE o_id = ?", more, order);
            session.update("UPDATE customer SET balance = balance + ? WHERE c_id = ?", more, head[0]);
            return head[2] + more;
        });
        return "order " + order + " changed, total " + total;
    }

    String status(long order) throws SQLException, Refused {
        return transactions.run(session -> {
            long[] head = session.row("order", "SELECT c_id, total FROM orders WHERE o_id = ?", order);
            StringBuilder text = new StringBuilder("order " + order + " of " + head[0]);
            for (long[] line : session.rows(
                    "SELECT l.i_id, l.quantity, l.price FROM order_line l WHERE l.o_id = ? ORDER BY l.line", order)) {
                text.append("\n").append(line[1]).append(" of ").append(line[0]).append(" at ").append(line[2]);
            }
            return text.append("\ntotal ").append(head[1]).toString();
        });
    }

    String customer(long customer) throws SQLException, Refused {
        return transactions.run(session -> {
            long[] head = session.row("customer",
                    "SELECT c.balance, a.zone FROM customer c JOIN address a ON a.c_id = c.c_id WHERE c.c_id = ?", customer);
            StringBuilder text = new StringBuilder("customer " + customer + " of zone " + head[1]);
            for (long[] order : session.rows(
                    "SELECT o_id, total FROM orders WHERE c_id = ? ORDER BY c_id DESC, o_id DESC LIMIT " + SHOWN_ORDERS,
                    customer)) {
                text.append("\n").append(order[0]).append(": ").append(order[1]);
            }
            return text.append("\nbalance ").append(head[0]).toString();
        });
    }
}
