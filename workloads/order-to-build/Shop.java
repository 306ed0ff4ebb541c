package shop;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.concurrent.Executors;

/** The business on a server of the JDK, on loopback, with a database that it fills first; it serves until it is ended. */
public final class Shop {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;
    private static final int FAILED = 500;
    /** Connections that wait to be accepted, and that the server keeps open: more than a driver has clients. */
    private static final int CONNECTIONS = 16_384;
    private static final long POLL_MS = 20;
    private static final long AGAIN_MS = 50;

    private Shop() {
    }

    /** Exit codes: 64 arguments wrong, 69 not possible here. */
    public static void main(String[] words) {
        try {
            serve(new Arguments(words));
        } catch (IllegalArgumentException e) {
            leave(e.getMessage(), USAGE);
        } catch (SQLException | Refused e) {
            leave("database: " + e.getMessage(), UNAVAILABLE);
        } catch (IOException e) {
            leave("port: cannot be listened on (" + e.getMessage() + ")", UNAVAILABLE);
        }
    }

    private static void leave(String why, int code) {
        System.err.println(why);
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }

    private static void serve(Arguments given) throws IOException, SQLException, Refused {
        Pool keysPool = new Pool(given.url, 1);
        Pool pool = new Pool(given.url, given.connections);
        keysPool.run(session -> {
            Schema.create(session);
            return Population.fill(session, given.seed);
        });
        Keys keys = new Keys(keysPool);
        Suppliers suppliers = new Suppliers(pool, keys, given.supplierMs);
        Backlog backlog = new Backlog(given.backlog, Backlog.LIMIT_MS);
        Manufacturing manufacturing = new Manufacturing(pool, keys, suppliers, backlog, given.stationMs);
        TableQueue queue = new TableQueue();
        for (int i = 0; i < given.consumers; i++) {
            background("consumer", () -> queue.next(manufacturing));
        }
        background("suppliers", () -> deliver(suppliers));
        listen(given, new Operations(pool, new OrderEntry(pool, keys, queue, backlog), manufacturing));
    }

    private static void listen(Arguments given, Operations operations) throws IOException {
        // Read by the server's classes when they are loaded. Without the first an answer waits 40 ms for its last packet.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.maxIdleConnections", Integer.toString(CONNECTIONS));
        InetSocketAddress at = new InetSocketAddress(InetAddress.getByName(given.address), given.port);
        HttpServer server = HttpServer.create(at, CONNECTIONS);
        server.createContext("/", exchange -> answer(exchange, operations));
        server.setExecutor(Executors.newFixedThreadPool(given.threads));
        server.start();
    }

    /** Answers, whatever becomes of it: who asked would wait for a thread that has ended until he gives up. */
    static void answer(HttpExchange exchange, Operations operations) throws IOException {
        try {
            send(exchange, operations.answer(exchange.getRequestMethod(), exchange.getRequestURI().getPath(),
                    exchange.getRequestURI().getRawQuery()));
        } catch (RuntimeException | Error e) {
            fail(exchange, e);
        }
    }

    /** Says what went wrong, if nothing was said yet, and closes the connection. */
    private static void fail(HttpExchange exchange, Throwable why) throws IOException {
        try {
            exchange.getResponseHeaders().set("Connection", "close");
            send(exchange, new Operations.Reply(FAILED, why.toString()));
        } finally {
            exchange.close();
        }
    }

    private static void send(HttpExchange exchange, Operations.Reply reply) throws IOException {
        byte[] bytes = reply.text().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(reply.status(), bytes.length);
        try (OutputStream body = exchange.getResponseBody()) {
            body.write(bytes);
        }
    }

    private static void deliver(Suppliers suppliers) throws InterruptedException {
        try {
            suppliers.deliver();
        } catch (SQLException | Refused e) {
            System.err.println("a delivery waits: " + e.getMessage());
        }
        Thread.sleep(POLL_MS);
    }

    /** What is done again and again beside the requests. */
    private interface Step {
        void go() throws InterruptedException;
    }

    /** One that fails is told and goes on: what it did not do comes again. */
    private static void again(String name, Step step) throws InterruptedException {
        try {
            step.go();
        } catch (RuntimeException | Error e) {
            System.err.println(name + ": " + e);
            Thread.sleep(AGAIN_MS);
        }
    }

    private static void background(String name, Step step) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    again(name, step);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }
}
