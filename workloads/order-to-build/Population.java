package shop;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.LongFunction;

/** What is there before the first order; the same for the same seed. mix.toml asks for what is here. */
final class Population {
    static final long CUSTOMERS = 1_500;
    static final long ITEMS = 500;
    static final long PARTS = 1_000;
    static final long SUPPLIERS = 20;
    static final long ORDERS = 1_500;
    /** Keys of bought parts begin here; those below are of items, which are parts that are built. */
    static final long FIRST_PART = 1_001;

    private static final long REORDER = 1_000;
    private static final int MOST_LINES = 5;
    private static final int BATCH = 1_000;

    private final Session session;
    private final SplittableRandom random;

    private Population(Session session, long seed) {
        this.session = session;
        random = new SplittableRandom(seed);
    }

    static Void fill(Session session, long seed) throws SQLException {
        Population population = new Population(session, seed);
        population.customers();
        population.items();
        population.parts();
        population.orders();
        // Beyond all that is filled in here.
        for (String name : List.of("orders", "work_order", "purchase_order", "message")) {
            session.update("INSERT INTO key_block VALUES (?, ?)", name, 1_000_000L);
        }
        return null;
    }

    private void customers() throws SQLException {
        insert("customer", 1, CUSTOMERS, c -> new Object[] {c, "Customer " + c, 0L});
        insert("address", 1, CUSTOMERS, c -> new Object[] {c, c + " Main Street", "City " + c % 97, c % 9});
    }

    private void items() throws SQLException {
        insert("item", 1, ITEMS, i -> new Object[] {i, "Item " + i, between(1_000, 99_999)});
        insert("part", 1, ITEMS, i -> new Object[] {i, "Item " + i, 0L});
        insert("stock", 1, ITEMS, i -> new Object[] {i, 0L, 0L, 0L, 0L, 0L});
    }

    private void parts() throws SQLException {
        long last = FIRST_PART + PARTS - 1;
        insert("part", FIRST_PART, last, p -> new Object[] {p, "Part " + p, 1L});
        // Spread as after a long time, so that low stock is seen from the beginning.
        insert("stock", FIRST_PART, last, p -> stock(p, REORDER + between(1, REORDER)));
        insert("supplier", 1, SUPPLIERS, s -> new Object[] {s, "Supplier " + s});
        insert("supplier_part", FIRST_PART, last, p -> new Object[] {p, 1 + p % SUPPLIERS, between(10, 999)});
        List<Object[]> rows = new ArrayList<>();
        for (long item = 1; item <= ITEMS; item++) {
            TreeSet<Long> parts = new TreeSet<>();
            long n = between(5, 10);
            while (parts.size() < n) {
                parts.add(between(FIRST_PART, last));
            }
            for (long part : parts) {
                rows.add(new Object[] {item, part, between(1, 3)});
            }
        }
        session.updateAll("INSERT INTO bom VALUES (?, ?, ?)", rows);
    }

    private static Object[] stock(long part, long onHand) {
        return new Object[] {part, onHand, onHand, 0L, REORDER, REORDER};
    }

    /** Orders that can be asked for and changed; they are complete, so the balances of their customers are. */
    private void orders() throws SQLException {
        for (long order = 1; order <= ORDERS; order++) {
            Basket basket = new Basket(random.nextLong(), (int) between(1, MOST_LINES));
            OrderEntry.enter(session, order, between(1, CUSTOMERS), basket, false);
        }
    }

    private void insert(String table, long first, long last, LongFunction<Object[]> row) throws SQLException {
        List<Object[]> rows = new ArrayList<>();
        for (long key = first; key <= last; key++) {
            rows.add(row.apply(key));
            if (rows.size() == BATCH || key == last) {
                String places = "?" + ", ?".repeat(rows.get(0).length - 1);
                session.updateAll("INSERT INTO " + table + " VALUES (" + places + ")", rows);
                rows.clear();
            }
        }
    }

    private long between(long first, long last) {
        return random.nextLong(first, last + 1);
    }
}
