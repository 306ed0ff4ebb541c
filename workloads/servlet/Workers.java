import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/** The threads that make pages: platform ones, or virtual ones that few kernel threads carry. */
final class Workers {
    private static final int FIRST_WITH_VIRTUAL = 21;

    private Workers() {
    }

    /**
     * A pool of threads of one kind; {@link Unable} where this JVM has none.
     *
     * @param carriers kernel threads that carry virtual threads; 0 leaves that to the JVM
     */
    static Executor of(String kind, int threads, int carriers) throws Unable {
        return Executors.newFixedThreadPool(threads, kind.equals("platform") ? Thread::new : virtual(carriers));
    }

    /** By reflection, so that one set of classes runs on every JVM of a study. */
    private static ThreadFactory virtual(int carriers) throws Unable {
        int release = Runtime.version().feature();
        if (release < FIRST_WITH_VIRTUAL) {
            throw new Unable("kind: found virtual on Java " + release + ", expected Java " + FIRST_WITH_VIRTUAL
                    + " or later; choose another JVM or kind=platform");
        }
        // The JVM reads them when it makes its first virtual thread.
        if (carriers > 0) {
            System.setProperty("jdk.virtualThreadScheduler.parallelism", Integer.toString(carriers));
            System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", Integer.toString(carriers));
        }
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Method factory = Class.forName("java.lang.Thread$Builder").getMethod("factory");
            return (ThreadFactory) factory.invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw new Unable("kind: this JVM makes no virtual threads (" + e + "); choose kind=platform");
        }
    }
}
