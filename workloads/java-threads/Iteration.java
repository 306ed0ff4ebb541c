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
    final List<Long> finishNs = new ArrayList<>();

    /** Does the work. */
    Iteration(Plan plan, Arguments arguments, Starter starter) throws Unable {
        Total total = Total.of(arguments.lock, arguments.held);
        Crowd crowd = new Crowd(arguments.together);
        boolean ownClocks = starter.isPlatform();
        Worker[] workers = new Worker[plan.threads];
        for (int i = 0; i < plan.threads; i++) {
            workers[i] = new Worker(total, plan, i, crowd, ownClocks);
        }
        long ownBefore = Clock.thisThreadNs();
        Map<Path, Long> tasksBefore = ownClocks ? Map.of() : Clock.liveTasksNs();
        startNs = System.nanoTime();
        runAll(workers, starter, crowd);
        endNs = System.nanoTime();
        cpuNs = ownClocks ? cpuSince(ownBefore, workers) : Clock.sinceNs(tasksBefore);
        units = count(workers, plan);
        sum = total.sum();
        peak = crowd.peak();
        for (Worker worker : workers) {
            finishNs.add(worker.endNs() - startNs);
        }
    }

    private static void runAll(Worker[] workers, Starter starter, Crowd crowd) throws Unable {
        Thread[] threads = new Thread[workers.length];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = starter.create(workers[i]);
            start(threads[i], i);
        }
        crowd.open(threads);
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts here", e);
        }
    }

    private static void start(Thread thread, int index) throws Unable {
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            throw new Unable("threads: the system gave no more than " + index + " threads (" + e.getMessage()
                    + "); lower threads or raise the limit (ulimit -u, pids.max)");
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
        for (int i = 0; i < workers.length; i++) {
            units += workers[i].checkedUnits(plan.start(i + 1));
        }
        return units;
    }
}
