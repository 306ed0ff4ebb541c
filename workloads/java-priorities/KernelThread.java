import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel says of the thread that asks: not what Java was told, but what came of it. */
final class KernelThread {
    // Counted after the name in brackets, which may itself hold blanks and brackets: field 3 of the line is 0 here.
    private static final int NICE = 19 - 3;
    private static final int POLICY = 41 - 3;

    final int nice;
    final int policy;

    private KernelThread(String[] fields) {
        nice = Integer.parseInt(fields[NICE]);
        policy = Integer.parseInt(fields[POLICY]);
    }

    /** Of the calling thread; {@code policy} is 0 other, 1 fifo, 2 rr, 3 batch, 5 idle. */
    static KernelThread self() {
        try {
            String line = Files.readString(Path.of("/proc/thread-self/stat"));
            return new KernelThread(line.substring(line.lastIndexOf(')') + 2).trim().split(" "));
        } catch (IOException e) {
            throw new UncheckedIOException("/proc/thread-self/stat: cannot be read", e);
        }
    }
}
