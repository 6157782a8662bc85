package dev.raddle.spring;

import org.springframework.boot.health.contributor.Health;

/** A further part of the health, which may make it DOWN. */
interface HealthContribution {

    /** Adds details, and sets the status if it is not UP. */
    void contribute(Health.Builder health);
}
