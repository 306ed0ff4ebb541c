package shop;

import java.sql.SQLException;

/** What large orders ask of manufacturing. Each stands in a table, written in the transaction of its order. */
interface Messages {
    /** Queues a message, in the transaction of the caller. */
    void queue(Session session, long message, long order) throws SQLException;

    /** The transaction has come to its end: the message may be dealt with. */
    void committed(long message);
}
