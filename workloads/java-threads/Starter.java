import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Makes threads of one kind. Virtual ones by reflection, so that one set of classes runs on every JVM of a study. */
final class Starter {
    private static final int FIRST_WITH_VIRTUAL = 21;

    private final Object builder;
    private final Method unstarted;

    private Starter(Object builder, Method unstarted) {
        this.builder = builder;
        this.unstarted = unstarted;
    }

    /**
     * The starter for {@code platform} or {@code virtual} threads; {@link Unable} where this JVM has none.
     *
     * @param carriers kernel threads that carry the virtual ones; 0 leaves that to the JVM
     */
    static Starter of(String kind, int carriers) throws Unable {
        if (kind.equals("platform")) {
            return new Starter(null, null);
        }
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
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            return new Starter(builder, type.getMethod("unstarted", Runnable.class));
        } catch (ReflectiveOperationException e) {
            throw new Unable("kind: this JVM makes no virtual threads (" + e + "); choose kind=platform");
        }
    }

    boolean isPlatform() {
        return builder == null;
    }

    /** A new thread, not yet started. */
    Thread create(Runnable task) {
        if (builder == null) {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        }
        try {
            return (Thread) unstarted.invoke(builder, task);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(e);
        }
    }
}
