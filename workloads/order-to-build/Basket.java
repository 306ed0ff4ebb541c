package shop;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Lines of an order, drawn from a number that the driver sends: so many, of any items. */
final class Basket {
    private static final int MOST = 9;

    /** An item and how many of it. */
    record Line(long item, long quantity) {
    }

    final List<Line> lines = new ArrayList<>();

    Basket(long draw, int n) {
        SplittableRandom random = new SplittableRandom(draw);
        for (int i = 0; i < n; i++) {
            lines.add(new Line(random.nextLong(1, Population.ITEMS + 1), random.nextLong(1, MOST + 1)));
        }
    }
}
