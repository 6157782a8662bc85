package dev.raddle.examples.reports;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands for remote services. Callers get a connection of the warehouse in order of arrival. */
final class SlowBackends implements Backends {

    private static final int CONNECTIONS = 16;

    private final Semaphore connections = new Semaphore(CONNECTIONS, true);
    private final AtomicInteger headlines = new AtomicInteger();

    @Override
    public int rows(String tenant) throws InterruptedException {
        connections.acquire();
        try {
            Thread.sleep(50); // the remote service works
            return 100 + tenant.length();
        } finally {
            connections.release();
        }
    }

    @Override
    public int rate(String currency) throws InterruptedException {
        Thread.sleep(10);
        return currency.equals("EUR") ? 108 : 100;
    }

    @Override
    public String headline(String tenant) throws InterruptedException {
        boolean hangs = headlines.incrementAndGet() % 4 == 0;
        Thread.sleep(hangs ? 60_000 : 20);
        return "news for " + tenant;
    }
}
