import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** What the JVM did beside the work, in its own whole milliseconds since it started. */
final class Jvm {
    private static final int LOOKS = 20;
    private static final long LOOK_NS = 100_000_000;

    private Jvm() {
    }

    /** Lets the compiler finish what the pre-run gave it: until its time stands still, for two seconds at most. */
    static void settle() {
        long before = -1;
        for (int i = 0; i < LOOKS && jitMs() != before; i++) {
            before = jitMs();
            Clients.think(LOOK_NS);
        }
    }

    static long gcMs() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum += collector.getCollectionTime();
        }
        return sum;
    }

    static long jitMs() {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        return compiler == null ? 0 : compiler.getTotalCompilationTime();
    }
}
