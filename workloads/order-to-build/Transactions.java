package shop;

import java.sql.SQLException;

/** Where transactions come from: a pool of our own, or an application server. */
interface Transactions {
    /** What is done in one transaction. */
    interface Work<T> {
        T with(Session session) throws SQLException, Refused;
    }

    /** Does the work and commits; undoes all of it where it fails. */
    <T> T run(Work<T> work) throws SQLException, Refused;

    /** Whether work would now be part of a transaction of the caller, which alone commits or undoes it. */
    default boolean isJoining() throws SQLException {
        return false;
    }
}
