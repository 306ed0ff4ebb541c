import java.io.IOException;
import java.util.List;

/** One task of many elements, again and again: how long it takes alone, and how long divided over a pool. */
public final class ForkJoin {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;
    private static final int SOFTWARE = 70;
    private static final int TRACED = 512;
    private static final String STARVED = "p, clients: the system gave too few threads or too little memory for so many;"
            + " lower them or raise the limit (ulimit -u, pids.max, -Xmx)";

    private ForkJoin() {
    }

    /** Exit codes: 0 done, 64 arguments wrong, 69 not possible here, 70 work was lost. */
    public static void main(String[] words) throws IOException {
        // A client's failure, or that of a worker which could not make another one: the pool would go on with fewer.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> end(failure));
        try {
            run(new Arguments(words));
        } catch (IllegalArgumentException | IllegalStateException | OutOfMemoryError e) {
            end(e);
        }
    }

    // Whoever comes first has the word: nobody returns from here.
    private static synchronized void end(Throwable failure) {
        boolean starved = failure instanceof OutOfMemoryError;
        System.err.println(starved ? STARVED : failure.getMessage() == null ? failure.toString() : failure.getMessage());
        System.err.flush();
        Runtime.getRuntime().halt(starved ? UNAVAILABLE : failure instanceof IllegalArgumentException ? USAGE : SOFTWARE);
    }

    private static void run(Arguments arguments) throws IOException {
        Version version = Version.of(arguments.version, new Work(arguments.n, arguments.q), arguments.p);
        Events events = new Events();
        prepare(version, arguments);
        double unitNs = Unit.ns();
        events.ready();
        long steals = version.steals();
        long gcMs = Jvm.gcMs();
        long jitMs = Jvm.jitMs();
        List<Shot> shots = new Clients(version, arguments.clients, arguments.iterations, arguments.thinkNs).run();
        jitMs = Jvm.jitMs() - jitMs;
        gcMs = Jvm.gcMs() - gcMs;
        steals = version.steals() - steals;
        Clients.think(arguments.thinkNs);
        Trace trace = new Trace(version);
        Shots.write(events, shots, arguments.clients);
        events.value("steals", (double) steals / shots.size());
        events.value("workers", version.workers());
        events.value("gc_ms", gcMs);
        events.value("jit_ms", jitMs);
        events.value("unit_ns", unitNs);
        events.value("believed_cpus", Runtime.getRuntime().availableProcessors());
        events.value("checksum", version.work.expected & (1L << 48) - 1);
        trace.write(events, TRACED);
        events.finish();
    }

    // Classes that are loaded late undo what was compiled before: so all are, tracing and looking at the JVM too.
    private static void prepare(Version version, Arguments arguments) {
        new Trace(version);
        Jvm.gcMs();
        Jvm.jitMs();
        new Clients(version, arguments.clients, arguments.prerun, 0).run();
        Jvm.settle();
    }
}
