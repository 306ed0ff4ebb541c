import scalograph.jmh.Task;

/** The door to the workload: its classes have no package, and a class in one cannot name them. */
public final class Benched implements Task {
    private final Version version;
    private Part whole;

    public Benched(String name, int n, int q, int p) {
        version = Version.of(name, new Work(n, q), p);
    }

    @Override
    public void think(long ns) {
        Clients.think(ns);
    }

    @Override
    public Object shoot() {
        whole = version.run(version.work.range());
        return whole;
    }

    @Override
    public void check() {
        version.work.check(whole);
    }
}
