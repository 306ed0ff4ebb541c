package scalograph.jmh;

/** What a shot is made of, seen from JMH. */
public interface Task {
    /** Lets the pool go to sleep. */
    void think(long ns);

    /** The work, whole; returns what it came to. */
    Object shoot();

    /** Fails where the last shot did not do all of it. */
    void check();

    /** One of the workload's versions, with {@code n} elements of {@code q} units and a parallelism of {@code p}. */
    static Task of(String version, int n, int q, int p) throws ReflectiveOperationException {
        Class<?> door = Class.forName("Benched");
        return (Task) door.getConstructor(String.class, int.class, int.class, int.class).newInstance(version, n, q, p);
    }
}
