package shop;

import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/** Large orders that wait for room, and what goes wrong meanwhile: prints what is answered, and when. */
final class Held {
    private static final int ROOM = 2;

    private final Pool pool;
    private final Keys keys;
    /** What becomes of the next transactions of manufacturing; an empty text: nothing. */
    private final Queue<String> failures = new ArrayDeque<>();
    private final TableQueue queue = new TableQueue();
    private final Manufacturing manufacturing;
    private final Operations operations;

    private Held(String[] words) throws SQLException, Refused {
        // One connection: whoever waits with it would be waited for by all.
        Filled filled = new Filled(words, 1);
        pool = filled.pool;
        keys = filled.keys;
        Backlog backlog = new Backlog(ROOM, Backlog.LIMIT_MS);
        manufacturing = new Manufacturing(this.breaking(), keys, filled.suppliers, backlog, 0);
        operations = new Operations(pool, new OrderEntry(pool, keys, queue, backlog), manufacturing);
    }

    private Transactions breaking() {
        return new Transactions() {
            @Override
            public <T> T run(Work<T> work) throws SQLException, Refused {
                String failure = failures.isEmpty() ? "" : failures.remove();
                if (failure.equals("too deep")) {
                    throw new StackOverflowError(failure);
                }
                if (!failure.isEmpty()) {
                    throw new SQLException(failure);
                }
                return pool.run(work);
            }
        };
    }

    public static void main(String[] words) throws Exception {
        Held held = new Held(words);
        held.ask("large", "/large-orders", 7);
        held.ask("large", "/large-orders", 7);
        Operations.Reply[] late = new Operations.Reply[1];
        Thread third = held.waiting(late);
        held.ask("small", "/orders", 7);
        System.out.println("open " + held.open() + ", the third waits: " + third.isAlive());
        held.deal();
        third.join();
        System.out.println("open " + held.open() + ", the third " + late[0].status());
        held.deal();
        held.ask("nobody's", "/large-orders", 999_999);
        held.ask("large", "/large-orders", 7);
        held.failures.add("too deep");
        held.deal();
        held.deal();
        held.deal();
        System.out.println("open " + held.open());
        held.failures.addAll(List.of("", "", "locked", "locked", "", "locked"));
        System.out.println(held.operations.answer("POST", "/work-orders", "item=1&quantity=1").text().replaceAll("[0-9]+ ", ""));
        System.out.println("unfinished " + held.count("work_order WHERE is_done = 0") + ", failures left " + held.failures.size());
        held.full();
        held.end();
        held.ask("without a database", "/orders", 7);
        held.ask("without a database", "/orders", 7);
    }

    /** Nobody makes room: who waits is told, and the others go on. */
    private void full() {
        Operations full = new Operations(pool, new OrderEntry(pool, keys, queue, new Backlog(0, 1)), manufacturing);
        Operations.Reply refused = full.answer("POST", "/large-orders", "customer=7&lines=10&draw=12");
        System.out.println(refused.status() + " " + refused.text());
        System.out.println(full.answer("POST", "/orders", "customer=7&lines=10&draw=12").status());
    }

    private void ask(String what, String path, long customer) {
        System.out.println(what + " " + reply(path, customer).status());
    }

    private Operations.Reply reply(String path, long customer) {
        return operations.answer("POST", path, "customer=" + customer + "&lines=10&draw=12");
    }

    private Thread waiting(Operations.Reply[] late) throws InterruptedException {
        Thread thread = new Thread(() -> late[0] = reply("/large-orders", 7));
        thread.setDaemon(true);
        thread.start();
        while (thread.isAlive() && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        return thread;
    }

    private void deal() throws InterruptedException {
        try {
            queue.next(manufacturing);
            System.out.println("dealt with");
        } catch (StackOverflowError e) {
            System.out.println(e.getMessage());
        }
    }

    private long open() throws SQLException, Refused {
        return count("message WHERE is_done = 0");
    }

    private long count(String what) throws SQLException, Refused {
        return pool.run(session -> session.count("SELECT COUNT(*) FROM " + what));
    }

    /** The database ends in the middle of a transaction. */
    private void end() throws Refused {
        try {
            pool.run(session -> session.connection.createStatement().execute("SHUTDOWN IMMEDIATELY"));
        } catch (SQLException e) {
            System.out.println("the database has ended");
        }
    }
}
