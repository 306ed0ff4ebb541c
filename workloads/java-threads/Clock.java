import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * CPU time in nanoseconds. The JVM's figure for the process comes in ticks of 10 ms, a tenth of an iteration, so
 * platform threads read the clock of the thread they are, and virtual ones, which have none, are seen in their carriers.
 */
final class Clock {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Path TASKS = Path.of("/proc/self/task");

    private Clock() {
    }

    /** CPU time of the calling platform thread. */
    static long thisThreadNs() {
        return THREADS.getCurrentThreadCpuTime();
    }

    /** CPU time of each kernel thread of this process that is alive; empty where the kernel does not tell. */
    static Map<Path, Long> liveTasksNs() {
        Map<Path, Long> found = new HashMap<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            for (Path task : tasks) {
                long ns = taskNs(task.resolve("schedstat"));
                if (ns > 0) {
                    found.put(task, ns);
                }
            }
        } catch (IOException e) {
            return Map.of();
        }
        return found;
    }

    /** What those that live now have used since then, or -1; one of the JVM's own that has ended since is not in it. */
    static long sinceNs(Map<Path, Long> before) {
        Map<Path, Long> now = liveTasksNs();
        if (before.isEmpty() || now.isEmpty()) {
            return -1;
        }
        return now.entrySet().stream().mapToLong(task -> task.getValue() - before.getOrDefault(task.getKey(), 0L)).sum();
    }

    /** Kernel tasks of this process; 0 where the kernel does not tell. */
    static int tasks() {
        String[] found = TASKS.toFile().list();
        return found == null ? 0 : found.length;
    }

    // A thread of the JVM's own may end between the listing and the look.
    private static long taskNs(Path file) {
        try {
            String text = Files.readString(file);
            return Long.parseLong(text.substring(0, text.indexOf(' ')));
        } catch (IOException e) {
            return -1;
        }
    }
}
