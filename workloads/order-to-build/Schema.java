package shop;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** The tables: customers, orders, manufacturing, suppliers, and two that keep messages and keys. Money is in cents. */
final class Schema {
    private static final List<String> TABLES = List.of(
            "customer (c_id BIGINT PRIMARY KEY, name VARCHAR(40), balance BIGINT)",
            "address (c_id BIGINT PRIMARY KEY, street VARCHAR(40), city VARCHAR(40), zone BIGINT)",
            "item (i_id BIGINT PRIMARY KEY, name VARCHAR(40), price BIGINT)",
            "orders (o_id BIGINT PRIMARY KEY, c_id BIGINT, n_lines BIGINT, total BIGINT, is_large BIGINT, n_changes BIGINT,"
                    + " entered_ms BIGINT)",
            "order_line (o_id BIGINT, line BIGINT, i_id BIGINT, quantity BIGINT, price BIGINT, PRIMARY KEY (o_id, line))",
            "part (p_id BIGINT PRIMARY KEY, name VARCHAR(40), is_bought BIGINT)",
            "bom (i_id BIGINT, p_id BIGINT, quantity BIGINT, PRIMARY KEY (i_id, p_id))",
            "stock (p_id BIGINT PRIMARY KEY, initial BIGINT, on_hand BIGINT, on_order BIGINT, reorder_level BIGINT,"
                    + " reorder_quantity BIGINT)",
            "work_order (w_id BIGINT PRIMARY KEY, o_id BIGINT, i_id BIGINT, quantity BIGINT, station BIGINT, is_done BIGINT)",
            "station_log (w_id BIGINT, station BIGINT, passed_ms BIGINT, PRIMARY KEY (w_id, station))",
            "supplier (s_id BIGINT PRIMARY KEY, name VARCHAR(40))",
            "supplier_part (p_id BIGINT PRIMARY KEY, s_id BIGINT, price BIGINT)",
            "purchase_order (b_id BIGINT PRIMARY KEY, s_id BIGINT, due_ms BIGINT, is_done BIGINT)",
            "purchase_line (b_id BIGINT, p_id BIGINT, quantity BIGINT, price BIGINT, PRIMARY KEY (b_id, p_id))",
            "message (m_id BIGINT PRIMARY KEY, o_id BIGINT, is_done BIGINT)",
            "key_block (name VARCHAR(40) PRIMARY KEY, next_key BIGINT)");
    private static final List<String> INDEXES = List.of("orders (c_id, o_id)", "work_order (o_id)",
            "purchase_order (is_done, due_ms)", "message (is_done)");

    private Schema() {
    }

    static void create(Session session) throws SQLException {
        try (Statement statement = session.connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute("CREATE TABLE " + table);
            }
            for (int i = 0; i < INDEXES.size(); i++) {
                statement.execute("CREATE INDEX index_" + i + " ON " + INDEXES.get(i));
            }
        }
    }
}
