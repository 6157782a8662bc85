package dev.raddle.examples.shop;

import java.util.concurrent.Semaphore;

/** Stands for a remote service: 16 connections, each busy for 5 ms. Callers get a connection in order of arrival. */
final class SlowPriceService implements PriceService {

    private static final int CONNECTIONS = 16;
    private static final int MILLIS = 50;

    private final Semaphore connections = new Semaphore(CONNECTIONS, true);

    @Override
    public int price(String item) throws InterruptedException {
        connections.acquire();
        try {
            Thread.sleep(MILLIS); // the remote service works
            return 100 + item.length();
        } finally {
            connections.release();
        }
    }
}
