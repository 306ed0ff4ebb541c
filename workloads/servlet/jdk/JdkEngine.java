import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;

/** The server that comes with every JDK. */
final class JdkEngine implements Engine {
    @Override
    public void serve(int port, Page page, Executor workers) throws IOException {
        // Read by the server's classes when they are loaded. Without the first an answer waits 40 ms for its last packet.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.maxIdleConnections", Integer.toString(CONNECTIONS));
        InetSocketAddress at = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        HttpServer server = HttpServer.create(at, CONNECTIONS);
        server.createContext("/", exchange -> answer(exchange, page.answer()));
        server.createContext("/health", exchange -> answer(exchange, Page.HEALTHY));
        server.setExecutor(workers);
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
