package shop;

import jakarta.ejb.EJB;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Requests over HTTP, as the server of the JDK answers them. */
@WebServlet("/*")
public class Front extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @EJB
    private transient Business business;

    /** For the server. */
    public Front() {
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Operations.Reply reply = business.operations().answer(request.getMethod(), request.getRequestURI(),
                request.getQueryString());
        byte[] bytes = reply.text().getBytes(StandardCharsets.UTF_8);
        response.setStatus(reply.status());
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }
}
