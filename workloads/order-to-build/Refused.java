package shop;

/** The business says no: the transaction is undone, and the answer has this status and sentence. */
final class Refused extends Exception {
    /** What is asked for is not there; it cannot be done now. */
    static final int WRONG = 400;
    static final int UNKNOWN = 404;
    static final int SHORT = 409;
    /** Later it may be done. */
    static final int FULL = 503;

    private static final long serialVersionUID = 1L;

    final int status;

    Refused(int status, String sentence) {
        super(sentence);
        this.status = status;
    }
}
