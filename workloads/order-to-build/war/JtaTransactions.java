package shop;

import jakarta.transaction.NotSupportedException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.HeuristicMixedException;
import jakarta.transaction.HeuristicRollbackException;
import jakarta.transaction.Status;
import jakarta.transaction.SystemException;
import jakarta.transaction.Transaction;
import jakarta.transaction.TransactionManager;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Transactions of an application server: database and messages end together. Within one, its work is joined. */
final class JtaTransactions implements Transactions {
    private final TransactionManager manager;
    private final DataSource source;
    private final boolean isApart;

    /** @param isApart whether each is one of its own, whatever transaction the caller is in */
    JtaTransactions(TransactionManager manager, DataSource source, boolean isApart) {
        this.manager = manager;
        this.source = source;
        this.isApart = isApart;
    }

    @Override
    public <T> T run(Work<T> work) throws SQLException, Refused {
        try {
            if (manager.getStatus() == Status.STATUS_NO_TRANSACTION) {
                return begun(work);
            }
            if (!isApart) {
                return done(work);
            }
            Transaction outer = manager.suspend();
            try {
                return begun(work);
            } finally {
                manager.resume(outer);
            }
        } catch (NotSupportedException | SystemException | RollbackException | HeuristicMixedException
                | HeuristicRollbackException | jakarta.transaction.InvalidTransactionException e) {
            throw new SQLException("transaction: " + e, e);
        }
    }

    @Override
    public boolean isJoining() throws SQLException {
        try {
            return !isApart && manager.getStatus() != Status.STATUS_NO_TRANSACTION;
        } catch (SystemException e) {
            throw new SQLException("transaction: " + e, e);
        }
    }

    private <T> T begun(Work<T> work) throws SQLException, Refused, NotSupportedException, SystemException,
            RollbackException, HeuristicMixedException, HeuristicRollbackException {
        manager.begin();
        boolean isDone = false;
        try {
            T result = done(work);
            isDone = true;
            return result;
        } finally {
            if (isDone) {
                manager.commit();
            } else {
                manager.rollback();
            }
        }
    }

    private <T> T done(Work<T> work) throws SQLException, Refused {
        try (Connection connection = source.getConnection(); Session session = new Session(connection)) {
            return work.with(session);
        }
    }
}
