/** One task, from before it is submitted until its result is there. */
final class Shot {
    final int client;
    final long startNs;
    final long endNs;
    final long elements;

    /** Does it, and checks it when the clock has stopped. */
    Shot(Version version, int client) {
        this.client = client;
        startNs = System.nanoTime();
        Part whole = version.run(version.work.range());
        endNs = System.nanoTime();
        version.work.check(whole);
        elements = whole.count();
    }

    long ns() {
        return endNs - startNs;
    }
}
