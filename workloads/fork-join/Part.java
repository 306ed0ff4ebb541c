/** What some of the elements come to, and how many they were. One thread fills it; merging follows a join. */
final class Part {
    private final int q;
    private final long nothing;
    private long last;
    private long sum;
    private long count;

    Part(int q, long nothing) {
        this.q = q;
        this.nothing = nothing;
    }

    /** Does the work of one element, which cannot begin before the last one has ended: what q is stays what it costs. */
    void add(long index) {
        last = Steps.walk(Work.seed(index) ^ last & nothing, q);
        sum ^= last;
        count++;
    }

    void merge(Part other) {
        sum ^= other.sum;
        count += other.count;
    }

    long sum() {
        return sum;
    }

    long count() {
        return count;
    }
}
