package dev.raddle.examples.reports;

/** The services that reports need, and that all tenants share. */
interface Backends {

    /** Returns how many rows the warehouse has of a tenant. It has 16 connections. */
    int rows(String tenant) throws InterruptedException;

    /** Returns the rate of a currency, which a vendor sells: 50 calls a second and no more. */
    int rate(String currency) throws InterruptedException;

    /** Returns the headline of the day. Some calls hang. */
    String headline(String tenant) throws InterruptedException;
}
