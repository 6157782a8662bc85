package dev.raddle.examples.shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** A shop with many tenants and one service for prices, which has few connections. */
@SpringBootApplication
public class ShopApplication {

    /**
     * Starts the shop.
     *
     * @param arguments properties, such as {@code --raddle.grouped.enabled=false} for a shop without limits
     */
    public static void main(String[] arguments) {
        SpringApplication.run(ShopApplication.class, arguments);
    }

    @Bean
    @ConditionalOnMissingBean
    PriceService priceService() {
        return new SlowPriceService();
    }
}
