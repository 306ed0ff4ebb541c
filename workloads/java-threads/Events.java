import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** The lines of protocol/workload.md: to the descriptor that the environment names, or for people on standard output. */
final class Events {
    private final PrintStream out;
    private final String go;

    Events() throws IOException {
        String path = System.getenv("SCALOGRAPH_EVENTS");
        out = path == null ? System.out
                : new PrintStream(new FileOutputStream(path), false, StandardCharsets.US_ASCII);
        go = System.getenv("SCALOGRAPH_GO");
    }

    /** Says that set-up is done, and waits for the byte that all copies get at one deadline. */
    void ready() throws IOException {
        line("ready");
        out.flush();
        if (go != null) {
            try (InputStream in = new FileInputStream(go)) {
                in.read();
            }
        }
    }

    void iteration(int index, Iteration iteration) {
        String cpu = iteration.cpuNs < 0 ? "" : " " + iteration.cpuNs;
        line("iteration " + index + " " + iteration.startNs + " " + iteration.endNs + " " + iteration.units + cpu);
    }

    /** CPU time for one unit of this iteration, where it is known. */
    void unitNs(Iteration iteration) {
        if (iteration.cpuNs >= 0) {
            line(String.format(Locale.ROOT, "value unit_ns %.6f", (double) iteration.cpuNs / iteration.units));
        }
    }

    void value(String name, long number) {
        line("value " + name + " " + number);
    }

    /** Writes what was collected; fails when nobody took it. */
    void finish() throws IOException {
        out.flush();
        if (out.checkError()) {
            throw new IOException("the events could not be written");
        }
    }

    // Not println: the line separator is the platform's, the protocol's is a newline.
    private void line(String text) {
        out.print(text);
        out.print('\n');
    }
}
