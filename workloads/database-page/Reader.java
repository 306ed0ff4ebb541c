import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** One connection and its statement: reads the days of a station. */
final class Reader {
    private static final String DAYS = "SELECT s.name, r.day_no, COUNT(*), MIN(r.tenths), MAX(r.tenths), SUM(r.tenths)"
            + " FROM station s JOIN reading r ON r.station = s.id WHERE s.id = ?"
            + " GROUP BY s.name, r.day_no ORDER BY r.day_no";

    private final PreparedStatement days;
    private final int stations;

    Reader(String address) throws SQLException {
        Connection connection = DriverManager.getConnection(address);
        try (ResultSet counted = connection.createStatement().executeQuery("SELECT COUNT(*) FROM station")) {
            counted.next();
            stations = counted.getInt(1);
        }
        days = connection.prepareStatement(DAYS);
    }

    /** The days of a station, which are counted round and round. */
    List<Day> read(int number) throws SQLException {
        days.setInt(1, 1 + Math.floorMod(number, stations));
        List<Day> found = new ArrayList<>();
        try (ResultSet rows = days.executeQuery()) {
            while (rows.next()) {
                found.add(new Day(rows));
            }
        }
        return found;
    }

    /** What was read at a station on a day, temperatures in tenths of a degree. */
    static final class Day {
        final String station;
        final int number;
        final int readings;
        final int lowest;
        final int highest;
        final long sum;

        private Day(ResultSet row) throws SQLException {
            station = row.getString(1);
            number = row.getInt(2);
            readings = row.getInt(3);
            lowest = row.getInt(4);
            highest = row.getInt(5);
            sum = row.getLong(6);
        }
    }
}
