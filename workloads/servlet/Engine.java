import java.io.IOException;
import java.util.concurrent.Executor;

/** A server of others that this page is put into; one class of this kind for each, in a folder of its name. */
interface Engine {
    /** Connections that wait to be accepted, and that a server keeps open: more than a driver has clients. */
    int CONNECTIONS = 16_384;

    /**
     * Listens on a port of 127.0.0.1: the page is made by one of the workers; `/health` answers a few bytes.
     *
     * @throws IOException the port cannot be listened on
     */
    void serve(int port, Page page, Executor workers) throws IOException;
}
