/** What a unit of work costs here: the least of a few long walks, since whatever disturbs one makes it longer. */
final class Unit {
    private static final int WALKS = 5;
    private static final int STEPS = 1 << 20;

    private Unit() {
    }

    /** Nanoseconds of one unit, loop and all. */
    static double ns() {
        long end = Jump.by(STEPS, Steps.START);
        long least = Long.MAX_VALUE;
        for (int i = 0; i < WALKS; i++) {
            long startNs = System.nanoTime();
            long x = Steps.walk(Steps.START, STEPS);
            least = Math.min(least, System.nanoTime() - startNs);
            if (x != end) {
                throw new IllegalStateException("work was lost: a walk ends in " + x + ", expected " + end);
            }
        }
        return (double) least / STEPS;
    }
}
