import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A server on loopback with one page that only computes; it serves until it is told to end. */
public final class Servlet {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;
    /** Connections that wait to be accepted, and that the server keeps open: more than a driver has clients. */
    private static final int CONNECTIONS = 16_384;

    private Servlet() {
    }

    /** Exit codes: 64 arguments wrong, 69 not possible here. */
    public static void main(String[] words) {
        try {
            serve(new Arguments(words));
        } catch (IllegalArgumentException e) {
            leave(e.getMessage(), USAGE);
        } catch (Unable e) {
            leave(e.getMessage(), UNAVAILABLE);
        } catch (IOException e) {
            leave("port: cannot be listened on (" + e.getMessage() + ")", UNAVAILABLE);
        }
    }

    private static void leave(String why, int code) {
        System.err.println(why);
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }

    private static void serve(Arguments arguments) throws IOException, Unable {
        // Read by the server's classes when they are loaded. Without the first an answer waits 40 ms for its last packet.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.maxIdleConnections", Integer.toString(CONNECTIONS));
        InetSocketAddress at = new InetSocketAddress(InetAddress.getLoopbackAddress(), arguments.port);
        HttpServer server = HttpServer.create(at, CONNECTIONS);
        Page page = new Page(arguments.repeats);
        server.createContext("/", exchange -> answer(exchange, page.answer()));
        server.createContext("/health", exchange -> answer(exchange, "ready\n"));
        server.setExecutor(Workers.of(arguments.kind, arguments.threads, arguments.carriers));
        server.start();
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        exchange.sendResponseHeaders(200, bytes.length);
        try (OutputStream body = exchange.getResponseBody()) {
            body.write(bytes);
        }
    }
}
