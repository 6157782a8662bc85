package dev.raddle.examples.shop;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Answers {@code GET /TENANT/quotes/ITEM}. */
@RestController
class QuoteController {

    private final Quotes quotes;

    QuoteController(Quotes quotes) {
        this.quotes = quotes;
    }

    @GetMapping("/{tenant}/quotes/{item}")
    String quote(@PathVariable("tenant") String tenant, @PathVariable("item") String item) throws InterruptedException {
        return quotes.quote(tenant, item);
    }
}
