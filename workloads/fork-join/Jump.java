/** Where {@code n} steps lead, without taking them: the step is a 64 x 64 matrix over bits, and matrices can be squared. */
final class Jump {
    private static final int BITS = 64;
    private static final long[][] POWERS = powers();

    private Jump() {
    }

    /** The state after {@code n} steps; microseconds, whatever {@code n} is. */
    static long by(long n, long state) {
        long x = state;
        for (int bit = 0; bit < BITS; bit++) {
            if ((n >>> bit & 1) != 0) {
                x = times(POWERS[bit], x);
            }
        }
        return x;
    }

    /** Power {@code i} is the matrix of 2^i steps; column {@code j} is what becomes of bit {@code j}. */
    private static long[][] powers() {
        long[][] powers = new long[BITS][BITS];
        for (int j = 0; j < BITS; j++) {
            powers[0][j] = Steps.step(1L << j);
        }
        for (int i = 1; i < BITS; i++) {
            for (int j = 0; j < BITS; j++) {
                powers[i][j] = times(powers[i - 1], powers[i - 1][j]);
            }
        }
        return powers;
    }

    private static long times(long[] matrix, long vector) {
        long product = 0;
        for (int bit = 0; bit < BITS; bit++) {
            product ^= matrix[bit] & -(vector >>> bit & 1);
        }
        return product;
    }
}
