/** This JVM cannot do what the arguments ask; the message is the one sentence that says so. */
final class Unable extends Exception {
    private static final long serialVersionUID = 1L;

    Unable(String sentence) {
        super(sentence);
    }
}
