/**
 * The cost of an element: one unit is one step of a fixed sequence of 64-bit numbers, in which each step needs the one
 * before.
 *
 * <p>The step shifts and xors, so no compiler can fold two steps into one as it can with multiply-and-add, and yet
 * {@link Jump} can tell where any number of steps leads.
 */
final class Steps {
    static final long START = 0x9E3779B97F4A7C15L;

    private Steps() {
    }

    /** The state after {@code n} steps, one by one. */
    static long walk(long state, int n) {
        long x = state;
        for (int i = 0; i < n; i++) {
            x = step(x);
        }
        return x;
    }

    static long step(long state) {
        long x = state;
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
        return x;
    }
}
