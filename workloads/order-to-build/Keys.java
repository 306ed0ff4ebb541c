package shop;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** Keys by the block: one transaction of its own for each hundred, so that no two servers give the same. */
final class Keys {
    private static final long BLOCK = 100;

    private final Transactions own;
    /** Next key and end of the block, by name. */
    private final Map<String, long[]> blocks = new HashMap<>();

    /** @param own transactions that are not those of the caller, or a block would stay locked as long as those last */
    Keys(Transactions own) {
        this.own = own;
    }

    synchronized long next(String name) throws SQLException, Refused {
        long[] block = blocks.computeIfAbsent(name, unused -> new long[2]);
        if (block[0] == block[1]) {
            block[0] = own.run(session -> reserved(session, name));
            block[1] = block[0] + BLOCK;
        }
        return block[0]++;
    }

    private static long reserved(Session session, String name) throws SQLException, Refused {
        long first = session.row("keys", "SELECT next_key FROM key_block WHERE name = ? FOR UPDATE", name)[0];
        session.update("UPDATE key_block SET next_key = ? WHERE name = ?", first + BLOCK, name);
        return first;
    }
}
