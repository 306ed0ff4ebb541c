import java.util.HashMap;
import java.util.Map;

/** The records of one thread: a key that is drawn gets a new record, and the old one is garbage. */
final class Table {
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final Map<Integer, Entry> records = new HashMap<>();
    private final int size;
    private long state;
    private long done;
    private long sum;

    Table(int number, int size) {
        this.size = size;
        state = MIX * (number + 1);
        for (int key = 0; key < size; key++) {
            records.put(key, new Entry(key, 0));
        }
    }

    long done() {
        return done;
    }

    /** Depends on every record that was made, so that no compiler leaves one out. */
    long sum() {
        return sum;
    }

    void replace(long operations) {
        for (long i = 0; i < operations; i++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            int key = (int) Math.floorMod(state, (long) size);
            Entry old = records.put(key, new Entry(key, state));
            sum = 31 * sum + old.weight();
            done++;
        }
    }

    /** A text and a few numbers. */
    private static final class Entry {
        private final String text;
        private final long[] numbers = new long[8];

        Entry(int key, long value) {
            text = new StringBuilder("record ").append(key).append(" of ").append(value & 0xFFFF).toString();
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = value >>> i;
            }
        }

        long weight() {
            return text.length() + numbers[text.length() % numbers.length];
        }
    }
}
