package dev.raddle.spring;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A data source that can be broken: then it throws, or it does not answer. */
final class BrokenSource extends DelegatingDataSource {
    private final CountDownLatch repaired = new CountDownLatch(1);
    private volatile boolean throwing;
    private volatile boolean silent;

    BrokenSource(DataSource target) {
        super(target);
    }

    void throwExceptions() {
        throwing = true;
    }

    void hang() {
        silent = true;
    }

    /** Lets those that wait for an answer go on, and others use the database again. */
    void repair() {
        throwing = false;
        silent = false;
        repaired.countDown();
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (throwing) {
            throw new SQLTransientConnectionException("the database is away");
        }
        if (silent) {
            try {
                repaired.await();
            } catch (InterruptedException e) {
                throw new SQLTransientConnectionException(e);
            }
        }
        return super.getConnection();
    }
}
