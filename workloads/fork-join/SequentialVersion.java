import java.util.Spliterator;
import java.util.stream.StreamSupport;

/** A stream on the thread of the client. */
final class SequentialVersion extends Version {
    SequentialVersion(Work work) {
        super(work);
    }

    @Override
    Part run(Spliterator.OfLong range) {
        return StreamSupport.longStream(range, false).collect(work::part, Part::add, Part::merge);
    }
}
