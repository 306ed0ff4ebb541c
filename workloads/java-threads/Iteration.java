import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One iteration: all of its work, from before the first thread is created until after the last is joined. */
final class Iteration {
    final long startNs;
    final long endNs;
    final long units;
    final long cpuNs;
    final long sum;
    final int peak;
    /** Threads that the system gave: fewer than were asked for only where the arguments allow that. */
    final int started;
    /** Kernel tasks of this process when all of them were there; -1 where that is not asked. */
    final int tasks;
    final List<Long> finishNs = new ArrayList<>();

    /** Does the work. */
    Iteration(Plan plan, Arguments arguments, Starter starter) throws Unable {
        Total total = Total.of(arguments.lock, arguments.held);
        Crowd crowd = new Crowd(arguments.together, plan);
        boolean ownClocks = starter.isPlatform();
        Worker[] workers = new Worker[plan.threads];
        for (int i = 0; i < plan.threads; i++) {
            workers[i] = new Worker(total, i, crowd, ownClocks);
        }
        long ownBefore = Clock.thisThreadNs();
        Map<Path, Long> tasksBefore = ownClocks ? Map.of() : Clock.liveTasksNs();
        startNs = System.nanoTime();
        Thread[] threads = new Thread[plan.threads];
        started = startAll(threads, workers, starter, arguments.fewer);
        tasks = arguments.fewer ? Clock.tasks() : -1;
        Plan divided = started == plan.threads ? plan : new Plan(started, plan.total(), plan.quantum);
        crowd.open(threads, divided);
        joinAll(threads, started);
        endNs = System.nanoTime();
        cpuNs = ownClocks ? cpuSince(ownBefore, workers) : Clock.sinceNs(tasksBefore);
        units = count(workers, divided);
        sum = total.sum();
        peak = crowd.peak();
        for (int i = 0; i < started; i++) {
            finishNs.add(workers[i].endNs() - startNs);
        }
    }

    /** Starts as many as the system gives. */
    private static int startAll(Thread[] threads, Worker[] workers, Starter starter, boolean fewer) throws Unable {
        for (int i = 0; i < threads.length; i++) {
            threads[i] = starter.create(workers[i]);
            try {
                threads[i].start();
            } catch (OutOfMemoryError e) {
                if (fewer && i > 0) {
                    return i;
                }
                throw new Unable("threads: the system gave no more than " + i + " threads (" + e.getMessage()
                        + "); lower threads or raise the limit (ulimit -u, pids.max)");
            }
        }
        return threads.length;
    }

    private static void joinAll(Thread[] threads, int started) {
        try {
            for (int i = 0; i < started; i++) {
                threads[i].join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts here", e);
        }
    }

    private static long cpuSince(long before, Worker[] workers) {
        long cpu = Clock.thisThreadNs() - before;
        for (Worker worker : workers) {
            cpu += worker.cpuNs();
        }
        return cpu;
    }

    private static long count(Worker[] workers, Plan plan) {
        long units = 0;
        for (int i = 0; i < plan.threads; i++) {
            units += workers[i].checkedUnits(plan.start(i + 1));
        }
        return units;
    }
}
