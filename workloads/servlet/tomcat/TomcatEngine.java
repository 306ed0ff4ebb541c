import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Tomcat: a thread that accepts and one that polls, and a servlet that the workers carry out. */
final class TomcatEngine implements Engine {
    @Override
    public void serve(int port, Page page, Executor workers) throws IOException {
        Tomcat tomcat = new Tomcat();
        // In the folder in which it is started.
        tomcat.setBaseDir(new File("tomcat").getAbsolutePath());
        Connector connector = new Connector();
        connector.setPort(port);
        connector.setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
        connector.setProperty("acceptCount", Integer.toString(CONNECTIONS));
        connector.setProperty("maxConnections", Integer.toString(CONNECTIONS));
        connector.setProperty("maxKeepAliveRequests", "-1");
        connector.getProtocolHandler().setExecutor(workers);
        // Else it serves nothing, and says so in its log only.
        connector.setThrowOnFailure(true);
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "page", new Answered(page));
        context.addServletMappingDecoded("/", "page");
        try {
            tomcat.start();
        } catch (LifecycleException e) {
            throw new IOException(e);
        }
        // Its own threads do not keep the JVM.
        new Thread(tomcat.getServer()::await, "await").start();
    }

    private static final class Answered extends HttpServlet {
        private static final long serialVersionUID = 1L;

        private final transient Page page;

        Answered(Page page) {
            this.page = page;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            boolean isHealth = request.getRequestURI().equals("/health");
            byte[] bytes = (isHealth ? Page.HEALTHY : page.answer()).getBytes(StandardCharsets.US_ASCII);
            response.setContentLength(bytes.length);
            response.getOutputStream().write(bytes);
        }
    }
}
