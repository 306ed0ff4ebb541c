import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

/** A table of a few stations, read from the database, built as text and thrown away; a few bytes tell what was read. */
final class Page {
    private final Pool pool;
    private final int reads;
    private final int repeats;
    private final AtomicInteger next = new AtomicInteger();

    Page(Pool pool, int reads, int repeats) {
        this.pool = pool;
        this.reads = reads;
        this.repeats = repeats;
    }

    /** The answer; it depends on every row and every table. The connection is held until the table is built. */
    String answer() throws SQLException, InterruptedException {
        return pool.with(this::made);
    }

    private String made(Reader reader) throws SQLException {
        long readings = 0;
        long sum = 0;
        long characters = 0;
        for (int i = 0; i < reads; i++) {
            Iterable<Reader.Day> days = reader.read(next.getAndIncrement());
            for (Reader.Day day : days) {
                readings += day.readings;
                sum += day.sum;
            }
            for (int k = 0; k < repeats; k++) {
                characters += table(days).length();
            }
        }
        return reads + " stations, " + readings + " readings, " + sum + " in all, " + characters + " characters\n";
    }

    private static String table(Iterable<Reader.Day> days) {
        StringBuilder text = new StringBuilder("<table>");
        for (Reader.Day day : days) {
            text.append("<tr><th>").append(day.station).append("</th><td>").append(day.number);
            text.append("</td><td>").append(day.lowest / 10.0).append("</td><td>").append(day.highest / 10.0);
            text.append("</td></tr>");
        }
        return text.append("</table>").toString();
    }
}
