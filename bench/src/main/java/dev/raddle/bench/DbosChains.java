package dev.raddle.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;

/** Workflows of DBOS whose steps, one after the other, are empty. */
final class DbosChains implements AutoCloseable {

    /** The table in which DBOS records the ends of steps. */
    static final String STEPS = "dbos.operation_outputs";

    /** What DBOS makes durable: calls of the proxy that it returns. */
    public interface Workflows {
        /** Executes the steps. */
        String chain();
    }

    /** The workflow. */
    public static final class Chain implements Workflows {
        private final DBOS dbos;
        private final EmptyNodes nodes;

        private Chain(DBOS dbos, EmptyNodes nodes) {
            this.dbos = dbos;
            this.nodes = nodes;
        }

        @Override
        @Workflow(name = "chain")
        public String chain() {
            String last = "";
            for (int i = 0; i < EmptyNodes.LENGTH; i++) {
                last = dbos.<String, RuntimeException>runStep(nodes::execute, "step");
            }
            return last;
        }
    }

    private final DBOS dbos;
    private final Workflows workflows;

    private DbosChains(DBOS dbos, Workflows workflows) {
        this.dbos = dbos;
        this.workflows = workflows;
    }

    static DbosChains start(HikariDataSource pool, EmptyNodes nodes) {
        DBOS dbos = new DBOS(DBOSConfig.defaults("bench").withDataSource(pool));
        Workflows workflows = dbos.registerProxy(Workflows.class, new Chain(dbos, nodes));
        dbos.launch();
        return new DbosChains(dbos, workflows);
    }

    /** Executes a workflow in the calling thread. */
    void run() {
        workflows.chain();
    }

    @Override
    public void close() {
        dbos.close();
    }
}
