package shop;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A connection with its statements by their text. All columns that are read are integers. */
final class Session implements AutoCloseable {
    final Connection connection;
    private final Map<String, PreparedStatement> statements = new HashMap<>();

    Session(Connection connection) {
        this.connection = connection;
    }

    /** Carries a statement out; returns how many rows it changed. */
    int update(String sql, Object... values) throws SQLException {
        return filled(sql, values).executeUpdate();
    }

    /** Carries a statement out once for each row of values. */
    void updateAll(String sql, List<Object[]> rows) throws SQLException {
        if (rows.isEmpty()) {
            return;
        }
        PreparedStatement statement = null;
        for (Object[] row : rows) {
            statement = filled(sql, row);
            statement.addBatch();
        }
        statement.executeBatch();
    }

    List<long[]> rows(String sql, Object... values) throws SQLException {
        List<long[]> found = new ArrayList<>();
        try (ResultSet result = filled(sql, values).executeQuery()) {
            int n = result.getMetaData().getColumnCount();
            while (result.next()) {
                long[] row = new long[n];
                for (int i = 0; i < n; i++) {
                    row[i] = result.getLong(i + 1);
                }
                found.add(row);
            }
        }
        return found;
    }

    /** The one row that there must be; what is asked for does not exist where there is none. */
    long[] row(String what, String sql, Object... values) throws SQLException, Refused {
        List<long[]> found = rows(sql, values);
        if (found.size() != 1) {
            throw new Refused(Refused.UNKNOWN, what + " " + values[0] + ": " + found.size() + " found");
        }
        return found.get(0);
    }

    /** The number that a query counts or sums up. */
    long count(String sql, Object... values) throws SQLException {
        return rows(sql, values).get(0)[0];
    }

    private PreparedStatement filled(String sql, Object... values) throws SQLException {
        PreparedStatement statement = statements.get(sql);
        if (statement == null) {
            statement = connection.prepareStatement(sql);
            statements.put(sql, statement);
        }
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    /** Closes the statements; the connection belongs to who opened it. */
    @Override
    public void close() throws SQLException {
        for (PreparedStatement statement : statements.values()) {
            statement.close();
        }
        statements.clear();
    }
}
