import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** The loops of main.c, on one thread, with the same counts and the same lines (README.md). */
public final class Loop {
    private static final long START = 0x9E3779B97F4A7C15L;
    private static final long SUM_BITS = (1L << 48) - 1;
    private static final int PASS = 4096;
    private static final int USAGE = 64;
    private static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();

    private boolean counts;
    private long units = 30_000_000;
    private int iterations = 1;
    private long prerun = 2_000_000;

    private Loop() {
    }

    /** Exit codes: 0 done, 64 arguments wrong. */
    public static void main(String[] words) throws IOException {
        Loop loop = new Loop();
        try {
            for (String word : words) {
                loop.parse(word);
            }
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(USAGE);
        }
        loop.run();
    }

    private void parse(String word) {
        int equals = word.indexOf('=');
        String value = word.substring(equals + 1);
        switch (word.substring(0, Math.max(0, equals))) {
            case "loop":
                counts = value.equals("count");
                break;
            case "units":
                units = Long.parseLong(value);
                break;
            case "iterations":
                iterations = Integer.parseInt(value);
                break;
            case "prerun":
                prerun = Long.parseLong(value);
                break;
            default:
                throw new IllegalArgumentException(word + ": expected loop=, units=, iterations= or prerun=");
        }
    }

    private void run() throws IOException {
        String path = System.getenv("SCALOGRAPH_EVENTS");
        PrintStream out = path == null ? System.out
                : new PrintStream(new FileOutputStream(path), false, StandardCharsets.US_ASCII);
        for (long done = 0; done < prerun; done += PASS) {
            work(PASS);
        }
        ready(out);
        StringBuilder lines = new StringBuilder();
        long sum = 0;
        double unitNs = 0;
        for (int i = 0; i < iterations; i++) {
            long cpu = CLOCKS.getCurrentThreadCpuTime();
            long start = System.nanoTime();
            sum = work(units);
            long end = System.nanoTime();
            cpu = CLOCKS.getCurrentThreadCpuTime() - cpu;
            long done = counts ? sum : units;
            unitNs = (double) cpu / done;
            lines.append(String.format(Locale.ROOT, "iteration %d %d %d %d %d\n", i, start, end, done, cpu));
        }
        out.print(lines);
        out.print(String.format(Locale.ROOT, "value unit_ns %.6f\nvalue checksum %d\n", unitNs, sum & SUM_BITS));
        out.flush();
        if (out.checkError()) {
            throw new IOException("the events could not be written");
        }
    }

    private long work(long n) {
        return counts ? count(n) : walk(START, n);
    }

    /** Whole passes; a compiler may delete the loop inside, an interpreter does not. */
    private static long count(long n) {
        long done = 0;
        while (done < n) {
            done += pass();
        }
        return done;
    }

    private static int pass() {
        int i = 0;
        while (i < PASS) {
            i++;
        }
        return i;
    }

    private static long walk(long state, long n) {
        long x = state;
        for (long i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static void ready(PrintStream out) throws IOException {
        out.print("ready\n");
        out.flush();
        String go = System.getenv("SCALOGRAPH_GO");
        if (go != null) {
            try (InputStream in = new FileInputStream(go)) {
                in.read();
            }
        }
    }
}
