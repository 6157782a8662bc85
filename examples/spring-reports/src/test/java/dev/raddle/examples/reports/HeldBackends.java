package dev.raddle.examples.reports;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

/** Has as many connections as the real warehouse. A call for the tenant "held" keeps its connection. */
final class HeldBackends implements Backends {

    static final int CONNECTIONS = 16;

    /** Takes the place of the slow backends. No component, which the service would find in its package. */
    static class Instead {
        @Bean
        @Primary
        HeldBackends heldBackends() {
            return new HeldBackends();
        }
    }

    final Semaphore connections = new Semaphore(CONNECTIONS, true);
    final Semaphore begun = new Semaphore(0);
    final CountDownLatch hold = new CountDownLatch(1);

    @Override
    public int rows(String tenant) throws InterruptedException {
        connections.acquire();
        try {
            if (tenant.startsWith("held")) {
                begun.release();
                hold.await();
            }
            return 100 + tenant.length();
        } finally {
            connections.release();
        }
    }

    @Override
    public int rate(String currency) {
        return 108;
    }

    @Override
    public String headline(String tenant) throws InterruptedException {
        if (tenant.startsWith("silent")) {
            new CountDownLatch(1).await(); // until it is interrupted
        }
        return "news for " + tenant;
    }
}
