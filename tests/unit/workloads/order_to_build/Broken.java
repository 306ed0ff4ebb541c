package shop;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executors;

/** A server whose business fails by an Error: prints what is answered nevertheless. */
final class Broken {
    private Broken() {
    }

    public static void main(String[] words) throws Exception {
        Iterator<Throwable> failures = List.<Throwable>of(new OutOfMemoryError("heap"), new StackOverflowError(),
                new IllegalStateException("closed"), new SQLException("gone")).iterator();
        Transactions broken = new Transactions() {
            @Override
            public <T> T run(Work<T> work) throws SQLException {
                throw Broken.<RuntimeException>hidden(failures.next());
            }
        };
        Operations operations = new Operations(broken, new OrderEntry(broken, null, null, null), null);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> Shop.answer(exchange, operations));
        server.setExecutor(Executors.newFixedThreadPool(1));
        server.start();
        HttpClient client = HttpClient.newHttpClient();
        URI page = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/customers?customer=1");
        HttpRequest request = HttpRequest.newBuilder(page).timeout(Duration.ofSeconds(20)).build();
        while (failures.hasNext()) {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.body());
        }
        System.exit(0);
    }

    /** Any failure, as if it had been declared. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E hidden(Throwable failure) throws E {
        throw (E) failure;
    }
}
