package dev.raddle.examples.orders;

import dev.raddle.flow.NodeContext;
import dev.raddle.jdbc.JdbcNodes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * A stock and a bank in a database. The stock is in the one that has the runs, too, so the book is taken in the
 * transaction in which that is recorded, and needs no mark. A compensation has no such transaction.
 *
 * @param source the database
 */
record ShopInDatabase(DataSource source) implements Shop {

    private static final String TABLES = "CREATE TABLE stock (books int NOT NULL); INSERT INTO stock VALUES (100);"
            + " CREATE TABLE freed (order_number text PRIMARY KEY);"
            + " CREATE TABLE charge (order_number text PRIMARY KEY, refunded boolean NOT NULL DEFAULT false)";

    void createTables() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(TABLES);
        }
    }

    @Override
    public void reserve(NodeContext<String> node) throws SQLException {
        try (Statement statement = JdbcNodes.connection(node).createStatement()) {
            statement.executeUpdate("UPDATE stock SET books = books - 1");
        }
    }

    @Override
    public void free(String order) throws SQLException {
        update(
                "WITH now AS (INSERT INTO freed VALUES (?) ON CONFLICT DO NOTHING RETURNING 1)"
                        + " UPDATE stock SET books = books + 1 WHERE EXISTS (SELECT FROM now)",
                order);
    }

    @Override
    public void charge(String order) throws SQLException {
        update("INSERT INTO charge VALUES (?) ON CONFLICT DO NOTHING", order);
    }

    @Override
    public void refund(String order) throws SQLException {
        update("UPDATE charge SET refunded = true WHERE order_number = ?", order);
    }

    private void update(String sql, String order) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, order);
            statement.executeUpdate();
        }
    }

    String summary() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*), count(*) FILTER (WHERE refunded),"
                        + " (SELECT books FROM stock) FROM charge")) {
            row.next();
            return "charged: " + row.getInt(1) + ", refunded: " + row.getInt(2) + ", in stock: " + row.getInt(3);
        }
    }
}
