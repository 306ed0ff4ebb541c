import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Spliterator;
import java.util.concurrent.ConcurrentLinkedQueue;

/** One shot that is looked at from inside: which worker did which subtask, and when. It is not among those that count. */
final class Trace {
    private final Collection<Subtask> seen = new ConcurrentLinkedQueue<>();
    private final List<Subtask> subtasks;
    private final Map<Thread, Integer> workers = new LinkedHashMap<>();
    private final long startNs;

    /** Does the shot. */
    Trace(Version version) {
        Spliterator.OfLong range = new TracedRange(version.work.range(), this);
        startNs = System.nanoTime();
        version.work.check(version.run(range));
        subtasks = new ArrayList<>(seen);
        subtasks.sort(Comparator.comparingLong(subtask -> subtask.startNs));
        for (Subtask subtask : subtasks) {
            workers.putIfAbsent(subtask.worker, workers.size());
        }
    }

    /** A subtask that ends now; called by its worker. */
    void saw(long subtaskStartNs) {
        seen.add(new Subtask(Thread.currentThread(), subtaskStartNs, System.nanoTime()));
    }

    /** Writes how many there were, how long they took, and the first of them one by one. */
    void write(Events events, int most) {
        long sumNs = 0;
        for (Subtask subtask : subtasks) {
            sumNs += subtask.endNs - subtask.startNs;
        }
        events.value("subtasks", subtasks.size());
        events.value("subtask_us", sumNs / 1e3 / subtasks.size());
        events.value("subtasks_us", sumNs / 1e3);
        for (Subtask subtask : subtasks.subList(0, Math.min(most, subtasks.size()))) {
            events.value("trace_start_ns", subtask.startNs - startNs);
            events.value("trace_end_ns", subtask.endNs - startNs);
            events.value("trace_worker", workers.get(subtask.worker));
        }
    }

    private static final class Subtask {
        final Thread worker;
        final long startNs;
        final long endNs;

        Subtask(Thread worker, long startNs, long endNs) {
            this.worker = worker;
            this.startNs = startNs;
            this.endNs = endNs;
        }
    }
}
