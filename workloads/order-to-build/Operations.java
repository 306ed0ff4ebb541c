package shop;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** What can be asked for over HTTP, by method and path; the same on every server. */
final class Operations {
    private static final int DONE = 200;
    private static final int FAILED = 500;
    private static final int MOST_LINES = 1_000;
    private static final long MOST = 1L << 40;

    /** An answer. */
    record Reply(int status, String text) {
    }

    private final Transactions transactions;
    private final OrderEntry orders;
    private final Manufacturing manufacturing;

    Operations(Transactions transactions, OrderEntry orders, Manufacturing manufacturing) {
        this.transactions = transactions;
        this.orders = orders;
        this.manufacturing = manufacturing;
    }

    /** Answers one request; what fails is told, and was undone. */
    Reply answer(String method, String path, String query) {
        try {
            return new Reply(DONE, done(method + " " + path, values(query)));
        } catch (Refused e) {
            return new Reply(e.status, e.getMessage());
        } catch (SQLException e) {
            return new Reply(FAILED, String.valueOf(e.getMessage()));
        }
    }

    private String done(String asked, Map<String, String> values) throws SQLException, Refused {
        switch (asked) {
            case "GET /health":
                return "ready";
            case "POST /orders":
            case "POST /large-orders":
                return orders.order(number(values, "customer", 1), (int) Math.min(number(values, "lines", 1), MOST_LINES),
                        number(values, "draw", 0), asked.endsWith("/large-orders"));
            case "POST /changes":
                return orders.change(number(values, "order", 1), number(values, "draw", 0));
            case "GET /orders":
                return orders.status(number(values, "order", 1));
            case "GET /customers":
                return orders.customer(number(values, "customer", 1));
            case "POST /work-orders":
                return manufacturing.build(number(values, "item", 1), number(values, "quantity", 1));
            case "GET /audit":
                return Audit.check(transactions, values);
            default:
                throw new Refused(Refused.UNKNOWN, "there is no " + asked);
        }
    }

    private static Map<String, String> values(String query) {
        Map<String, String> values = new HashMap<>();
        for (String pair : query == null ? new String[0] : query.split("&")) {
            String[] parts = pair.split("=", 2);
            values.put(parts[0], parts.length == 2 ? parts[1] : "");
        }
        return values;
    }

    /** A value that must be there: an integer from low on. */
    static long number(Map<String, String> values, String name, long low) throws Refused {
        String text = values.get(name);
        try {
            long value = Long.parseLong(String.valueOf(text));
            if (value >= low && value <= MOST) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Told below, with the bounds.
        }
        throw new Refused(Refused.WRONG, name + ": found " + text + ", expected an integer from " + low + " to " + MOST);
    }
}
