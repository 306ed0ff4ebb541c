/** One thread's stretch of the sequence. Results are plain fields: they are read after the join. */
final class Worker implements Runnable {
    private final Total total;
    private final int index;
    private final Crowd crowd;
    private final boolean ownClock;
    private long end;
    private long units;
    private long cpuNs;
    private long endNs;

    Worker(Total total, int index, Crowd crowd, boolean ownClock) {
        this.total = total;
        this.index = index;
        this.crowd = crowd;
        this.ownClock = ownClock;
    }

    @Override
    public void run() {
        Plan plan = crowd.enter();
        long first = plan.first(index);
        long last = plan.first(index + 1);
        boolean shorter = last == plan.quanta && last > first;
        long whole = last - first - (shorter ? 1 : 0);
        long x = total.work(plan.start(index), whole, plan.quantum);
        long done = whole * plan.quantum;
        if (shorter) {
            x = total.work(x, 1, plan.lastQuantum);
            done += plan.lastQuantum;
        }
        end = x;
        units = done;
        crowd.leave();
        endNs = System.nanoTime();
        cpuNs = ownClock ? Clock.thisThreadNs() : 0;
    }

    /** Units done; fails when the state is not the one that so many steps lead to. */
    long checkedUnits(long expectedEnd) {
        if (end != expectedEnd) {
            throw new IllegalStateException("work was lost: a stretch ends in " + end + ", expected " + expectedEnd);
        }
        return units;
    }

    /** When it had done its work, as System.nanoTime has it. */
    long endNs() {
        return endNs;
    }

    long cpuNs() {
        return cpuNs;
    }
}
