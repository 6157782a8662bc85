package dev.raddle.examples.shop;

import dev.raddle.spring.Grouped;
import org.springframework.stereotype.Service;

/** Asks for prices, within the limits of the tenant. */
@Service
class Quotes {

    private final PriceService prices;

    Quotes(PriceService prices) {
        this.prices = prices;
    }

    @Grouped(executor = "tenants", key = "#tenant")
    String quote(String tenant, String item) throws InterruptedException {
        return item + " for " + tenant + ": " + prices.price(item);
    }
}
