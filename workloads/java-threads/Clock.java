import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

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

    /** CPU time of all kernel threads of this process that are alive, or -1 where the kernel does not tell. */
    static long liveTasksNs() {
        long sum = -1;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            for (Path task : tasks) {
                long ns = taskNs(task.resolve("schedstat"));
                sum = ns < 0 ? sum : Math.max(sum, 0) + ns;
            }
        } catch (IOException e) {
            return -1;
        }
        return sum;
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
