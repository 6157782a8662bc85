package dev.raddle.examples.shop;

/** The service that all tenants share. */
interface PriceService {

    /** Returns the price of an item in cents. */
    int price(String item) throws InterruptedException;
}
