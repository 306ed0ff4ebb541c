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

    void ready() throws IOException {
        line("ready");
        out.flush();
        if (go != null) {
            try (InputStream in = new FileInputStream(go)) {
                in.read();
            }
        }
    }

    /** WORK is 1: one window of fixed length. How much was done in it is what the shares tell. */
    void contest(int index, Contest contest) {
        line("iteration " + index + " " + contest.startNs + " " + contest.endNs + " 1 " + contest.cpuNs());
        for (int i = 0; i < contest.contenders.size(); i++) {
            String whose = i == 0 ? "" : "rival_";
            KernelThread kernel = contest.contenders.get(i).kernel();
            line("value " + whose + "nice " + kernel.nice);
            line("value " + whose + "policy " + kernel.policy);
            line(String.format(Locale.ROOT, "value %sshare_percent %.4f", whose, contest.sharePercent(i)));
        }
    }

    void value(String name, long number) {
        line("value " + name + " " + number);
    }

    void finish() throws IOException {
        out.flush();
        if (out.checkError()) {
            throw new IOException("the events could not be written");
        }
    }

    private void line(String text) {
        out.print(text);
        out.print('\n');
    }
}
