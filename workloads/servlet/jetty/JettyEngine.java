import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/** Jetty: a thread that accepts and one that reads, which hand each page over to the workers. */
final class JettyEngine implements Engine {
    @Override
    public void serve(int port, Page page, Executor workers) throws IOException {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
        connector.setPort(port);
        connector.setAcceptQueueSize(CONNECTIONS);
        server.addConnector(connector);
        server.setHandler(new Handed(page, workers));
        try {
            server.start();
        } catch (Exception e) { // Jetty says no more of what may go wrong.
            throw new IOException(e);
        }
    }

    /** Does not block: no thread of Jetty's waits for a page. */
    private static final class Handed extends Handler.Abstract.NonBlocking {
        private final Page page;
        private final Executor workers;

        Handed(Page page, Executor workers) {
            this.page = page;
            this.workers = workers;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            if (Request.getPathInContext(request).equals("/health")) {
                answer(response, callback, Page.HEALTHY);
            } else {
                workers.execute(() -> answer(response, callback, page.answer()));
            }
            return true;
        }

        private static void answer(Response response, Callback callback, String text) {
            byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes.length);
            response.write(true, ByteBuffer.wrap(bytes), callback);
        }
    }
}
