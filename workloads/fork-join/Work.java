import java.util.Spliterator;
import java.util.stream.LongStream;

/** The task: {@code n} elements, {@code q} units each. What it comes to is the same however it is divided. */
final class Work {
    final int n;
    final int q;
    final long expected;
    // Always 0, but no compiler knows: read from the heap, it ties each element to the one before.
    private long nothing;

    Work(int n, int q) {
        this.n = n;
        this.q = q;
        this.expected = expected(n, q);
    }

    /** All elements, to be divided or not. */
    Spliterator.OfLong range() {
        return LongStream.range(0, n).spliterator();
    }

    /** A part without elements. */
    Part part() {
        return new Part(q, nothing);
    }

    /** Fails where the parts together are not every element once. */
    void check(Part whole) {
        if (whole.count() != n || whole.sum() != expected) {
            throw new IllegalStateException("work was lost: " + whole.count() + " elements come to " + whole.sum()
                    + ", expected " + n + " and " + expected);
        }
    }

    /** The state in which element {@code index} begins. */
    static long seed(long index) {
        return (index + 1) * Steps.START;
    }

    // A step is linear over bits, so the sum (xor) of all ends is where the sum of all beginnings leads.
    private static long expected(int n, int q) {
        long seeds = 0;
        for (int i = 0; i < n; i++) {
            seeds ^= seed(i);
        }
        return Jump.by(q, seeds);
    }
}
