/**
 * How many connections are in use and waited for, summed over time: NOW_NS SIZE BUSY_NS WAITING_NS TAKEN, as the load
 * driver asks for ({@code pool}).
 */
final class Meter {
    private final int size;
    private int busy;
    private int waiting;
    private long taken;
    private long atNs = System.nanoTime();
    private long busyNs;
    private long waitingNs;

    Meter(int size) {
        this.size = size;
    }

    synchronized void waits() {
        passed();
        waiting++;
    }

    synchronized void takes() {
        passed();
        waiting--;
        busy++;
        taken++;
    }

    synchronized void gives() {
        passed();
        busy--;
    }

    synchronized String told() {
        passed();
        return atNs + " " + size + " " + busyNs + " " + waitingNs + " " + taken + "\n";
    }

    private void passed() {
        long now = System.nanoTime();
        busyNs += busy * (now - atNs);
        waitingNs += waiting * (now - atNs);
        atNs = now;
    }
}
