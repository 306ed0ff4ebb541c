import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.concurrent.Executors;

/** A server on loopback with one page that reads a database; it serves until it is told to end. */
public final class DatabasePage {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;
    /** Connections that wait to be accepted, and that the server keeps open: more than a driver has clients. */
    private static final int CONNECTIONS = 16_384;

    private DatabasePage() {
    }

    /** Exit codes: 64 arguments wrong, 69 not possible here. */
    public static void main(String[] words) throws InterruptedException {
        try {
            serve(new Arguments(words));
        } catch (IllegalArgumentException e) {
            leave(e.getMessage(), USAGE);
        } catch (SQLException e) {
            leave("database_port: the database does not answer (" + e.getMessage() + ")", UNAVAILABLE);
        } catch (IOException e) {
            leave("port: cannot be listened on (" + e.getMessage() + ")", UNAVAILABLE);
        }
    }

    private static void leave(String why, int code) {
        System.err.println(why);
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }

    /** The server is there once all connections to the database are. */
    private static void serve(Arguments arguments) throws IOException, SQLException, InterruptedException {
        Pool pool = new Pool(arguments.address, arguments.connections);
        Page page = new Page(pool, arguments.reads, arguments.repeats);
        // Read by the server's classes when they are loaded. Without the first an answer waits 40 ms for its last packet.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.maxIdleConnections", Integer.toString(CONNECTIONS));
        InetSocketAddress at = new InetSocketAddress(InetAddress.getLoopbackAddress(), arguments.port);
        HttpServer server = HttpServer.create(at, CONNECTIONS);
        server.createContext("/", exchange -> answer(exchange, page));
        server.createContext("/health", exchange -> send(exchange, 200, "ready\n"));
        server.createContext("/pool", exchange -> send(exchange, 200, pool.told()));
        server.setExecutor(Executors.newFixedThreadPool(arguments.threads));
        server.start();
    }

    private static void answer(HttpExchange exchange, Page page) throws IOException {
        try {
            send(exchange, 200, page.answer());
        } catch (SQLException e) {
            send(exchange, 500, e.getMessage() + "\n");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        try (OutputStream body = exchange.getResponseBody()) {
            body.write(bytes);
        }
    }
}
