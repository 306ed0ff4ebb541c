import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Records that live in tables are replaced one by one: each operation makes a few small objects and forgets as many. */
public final class JavaObjects {
    private static final int USAGE = 64;
    private static final int SOFTWARE = 70;
    private static final long SUM_BITS = (1L << 48) - 1;

    private int threads = 2;
    private int live = 100_000;
    private long operations = 2_000_000;
    private long prerun;
    private int iterations = 1;
    private final StringBuilder lines = new StringBuilder();

    private JavaObjects() {
    }

    /** Exit codes: 0 done, 64 arguments wrong, 70 work was lost. */
    public static void main(String[] words) throws IOException, InterruptedException {
        JavaObjects objects = new JavaObjects();
        try {
            for (String word : words) {
                objects.parse(word);
            }
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(USAGE);
        }
        try {
            objects.run();
        } catch (IllegalStateException e) {
            System.err.println(e.getMessage());
            System.exit(SOFTWARE);
        }
    }

    private void parse(String word) {
        int equals = word.indexOf('=');
        String value = word.substring(equals + 1);
        switch (word.substring(0, Math.max(0, equals))) {
            case "threads":
                threads = Integer.parseInt(value);
                break;
            case "live":
                live = Integer.parseInt(value);
                break;
            case "operations":
                operations = Long.parseLong(value);
                break;
            case "prerun":
                prerun = Long.parseLong(value);
                break;
            case "iterations":
                iterations = Integer.parseInt(value);
                break;
            default:
                throw new IllegalArgumentException(
                        word + ": expected threads=, live=, operations=, prerun= or iterations=");
        }
    }

    private void run() throws IOException, InterruptedException {
        String path = System.getenv("SCALOGRAPH_EVENTS");
        PrintStream out = path == null ? System.out
                : new PrintStream(new FileOutputStream(path), false, StandardCharsets.US_ASCII);
        List<Table> tables = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            tables.add(new Table(i, Math.max(1, live / threads)));
        }
        work(tables, prerun);
        ready(out);
        long collectedMs = collectedMs();
        long compiledMs = compiledMs();
        for (int i = 0; i < iterations; i++) {
            long start = System.nanoTime();
            long done = work(tables, operations);
            lines.append("iteration ").append(i).append(' ').append(start).append(' ').append(System.nanoTime())
                    .append(' ').append(done).append('\n');
        }
        value("gc_ms", collectedMs() - collectedMs);
        value("jit_ms", compiledMs() - compiledMs);
        value("believed_cpus", Runtime.getRuntime().availableProcessors());
        value("checksum", tables.stream().mapToLong(Table::sum).sum() & SUM_BITS);
        out.print(lines);
        out.flush();
        if (out.checkError()) {
            throw new IOException("the events could not be written");
        }
    }

    /** Divides operations over threads that it starts and joins; returns how many were done. */
    private long work(List<Table> tables, long total) throws InterruptedException {
        List<Thread> started = new ArrayList<>();
        long before = tables.stream().mapToLong(Table::done).sum();
        for (int i = 0; i < threads && total > 0; i++) {
            Table own = tables.get(i);
            long share = total * (i + 1) / threads - total * i / threads;
            Thread thread = new Thread(() -> own.replace(share));
            thread.start();
            started.add(thread);
        }
        for (Thread thread : started) {
            thread.join();
        }
        long done = tables.stream().mapToLong(Table::done).sum() - before;
        // A thread that ran out of memory has ended early, and said so.
        if (done != total) {
            throw new IllegalStateException("work was lost: " + done + " operations, expected " + total);
        }
        return done;
    }

    private void value(String name, long number) {
        lines.append("value ").append(name).append(' ').append(number).append('\n');
    }

    private static long collectedMs() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum += Math.max(0, collector.getCollectionTime());
        }
        return sum;
    }

    private static long compiledMs() {
        return ManagementFactory.getCompilationMXBean() == null ? 0
                : ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
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
