import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.Executor;

/** A server on loopback with one page that only computes; it serves until it is told to end. */
public final class Servlet {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;

    private Servlet() {
    }

    /** Exit codes: 64 arguments wrong, 69 not possible here. */
    public static void main(String[] words) {
        try {
            Arguments arguments = new Arguments(words);
            Executor workers = Workers.of(arguments.kind, arguments.threads, arguments.carriers);
            engine(arguments.server).serve(arguments.port, new Page(arguments.repeats), workers);
        } catch (IllegalArgumentException e) {
            leave(e.getMessage(), USAGE);
        } catch (Unable e) {
            leave(e.getMessage(), UNAVAILABLE);
        } catch (IOException e) {
            leave("port: cannot be listened on (" + e.getMessage() + ")", UNAVAILABLE);
        }
    }

    /** By its name: one that was not built is not there. */
    private static Engine engine(String server) throws Unable {
        String name = server.substring(0, 1).toUpperCase(Locale.ROOT) + server.substring(1) + "Engine";
        try {
            return (Engine) Class.forName(name).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new Unable("server: found " + server + ", which was not built or runs on a later Java only (" + e + ")");
        }
    }

    private static void leave(String why, int code) {
        System.err.println(why);
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }
}
