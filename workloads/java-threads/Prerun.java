/**
 * What lets the JVM compile the loops before the first iteration: a fixed amount of work, never a time, so that a slow
 * machine warms up no less than a fast one. First many short calls (whole methods get compiled after many calls, not
 * after one long one), then once with as many threads as the run will have.
 */
final class Prerun {
    private static final int CALLS = 3000;

    private Prerun() {
    }

    static void run(Arguments arguments, Starter starter) throws Unable {
        if (arguments.prerun == 0) {
            return;
        }
        int quantum = Math.min(arguments.quantum, Math.max(1, arguments.prerun / CALLS));
        long quanta = Math.max(1, arguments.prerun / CALLS / quantum);
        Total total = Total.of(arguments.lock, arguments.held);
        long x = Steps.START;
        for (int i = 0; i < CALLS; i++) {
            x = total.work(x, quanta, quantum);
        }
        long steps = CALLS * quanta * quantum;
        if (x != Jump.by(steps, Steps.START)) {
            throw new IllegalStateException("work was lost in the pre-run");
        }
        new Iteration(new Plan(arguments.threads, arguments.prerun, quantum), arguments, starter);
    }
}
