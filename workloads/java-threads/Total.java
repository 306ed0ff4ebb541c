/** The one number that all threads add to, and the way they agree on who adds when. One kind of lock, one subclass. */
abstract class Total {
    /** Walk {@code quanta} times {@code quantum} units, adding the state to the total after each; return the last state. */
    abstract long work(long state, long quanta, int quantum);

    /** The total, read after all threads were joined. */
    abstract long sum();

    /** The total that {@code lock} names; where it can be held, the last {@code held} units of a quantum are done inside. */
    static Total of(String lock, int held) {
        switch (lock) {
            case "none": return new NoTotal();
            case "method": return new MethodTotal(held);
            case "coarse": return new CoarseTotal();
            case "object": return new ObjectTotal(held);
            case "cas": return new CasTotal();
            case "reentrant": return new ReentrantTotal(held);
            case "adder": return new AdderTotal();
            default: throw new IllegalArgumentException("lock: found " + lock
                    + ", expected none, method, coarse, object, cas, reentrant or adder");
        }
    }
}
