import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A fixed CPU work, divided over n threads or the same for each; they are created and joined in each iteration. */
public final class JavaThreads {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;
    private static final int SOFTWARE = 70;
    private static final long SUM_BITS = (1L << 48) - 1;

    private JavaThreads() {
    }

    /** Exit codes: 0 done, 64 arguments wrong, 69 not possible here, 70 work was lost. */
    public static void main(String[] words) throws IOException {
        try {
            run(new Arguments(words));
        } catch (IllegalArgumentException e) {
            leave(e, USAGE);
        } catch (Unable e) {
            leave(e, UNAVAILABLE);
        } catch (IllegalStateException e) {
            leave(e, SOFTWARE);
        }
    }

    private static void leave(Exception e, int code) {
        System.err.println(e.getMessage());
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }

    private static void run(Arguments arguments) throws IOException, Unable {
        Starter starter = Starter.of(arguments.kind, arguments.carriers);
        Plan plan = new Plan(arguments.threads, arguments.total(), arguments.quantum);
        Events events = new Events();
        Prerun.run(arguments, starter);
        long gcBefore = gcMs();
        long jitBefore = jitMs();
        events.ready();
        List<Iteration> iterations = new ArrayList<>();
        for (int i = 0; i < arguments.iterations; i++) {
            think(i == 0 ? 0 : arguments.thinkNs);
            iterations.add(new Iteration(plan, arguments, starter));
        }
        long gcMs = gcMs() - gcBefore;
        long jitMs = jitMs() - jitBefore;
        write(events, iterations, plan);
        if (arguments.each) {
            iterations.get(iterations.size() - 1).finishNs.forEach(ns -> events.value("finish_ns", ns));
        }
        events.unitNs(iterations.get(iterations.size() - 1));
        events.value("gc_ms", gcMs);
        events.value("jit_ms", jitMs);
        events.finish();
    }

    private static void write(Events events, List<Iteration> iterations, Plan plan) {
        for (int i = 0; i < iterations.size(); i++) {
            Iteration iteration = iterations.get(i);
            check(iteration, iterations.get(0), plan);
            events.iteration(i, iteration);
            events.value("peak_threads", iteration.peak);
            if (iteration.tasks >= 0) {
                events.value("started", iteration.started);
                events.value("tasks", iteration.tasks);
            }
        }
        events.value("believed_cpus", Runtime.getRuntime().availableProcessors());
        events.value("n_takings", plan.quanta);
        events.value("checksum", iterations.get(0).sum & SUM_BITS);
    }

    // The total is a sum over quanta in any order, so neither threads nor lock may change it.
    private static void check(Iteration iteration, Iteration first, Plan plan) {
        if (iteration.sum != first.sum) {
            throw new IllegalStateException("updates were lost: the total is " + iteration.sum + ", expected " + first.sum);
        }
        if (iteration.units != plan.total()) {
            throw new IllegalStateException("work was lost: " + iteration.units + " units, expected " + plan.total());
        }
    }

    private static void think(long ns) {
        long until = System.nanoTime() + ns;
        for (long left = ns; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static long gcMs() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum += collector.getCollectionTime();
        }
        return sum;
    }

    private static long jitMs() {
        return ManagementFactory.getCompilationMXBean() == null ? 0
                : ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
    }
}
