package dev.raddle.spring;

import java.util.concurrent.CompletableFuture;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A web application in a process of its own, for {@link SigtermTest}. Prints its port and the ends of its tasks. */
@SpringBootConfiguration
@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
@Import({ShopServer.Orders.class, ShopServer.Mail.class})
class ShopServer {

    public static void main(String[] arguments) {
        SpringApplication.run(ShopServer.class, arguments);
    }

    @EventListener
    void started(WebServerInitializedEvent event) {
        System.out.println("port " + event.getWebServer().getPort());
    }

    @RestController
    static class Orders {
        private final Mail mail;

        Orders(Mail mail) {
            this.mail = mail;
        }

        /** Answers when the order is placed; its mail is sent later. */
        @PostMapping("/orders")
        String place(@RequestParam("tenant") String tenant, @RequestParam("id") String id) throws InterruptedException {
            CompletableFuture<String> sent = mail.send(tenant, id);
            return sent.isCompletedExceptionally() ? "refused" : "placed " + id;
        }

        @GetMapping("/ready")
        String ready() {
            return "ready";
        }
    }

    static class Mail {
        /**
         * Takes some time, as a mail server does: tasks have to run and to wait when the signal arrives. No latch could
         * end them, because the test that would open it is another process, and it has to look at the server only from
         * the outside. The test does not depend on the length.
         */
        @Grouped(executor = "mail", key = "#tenant")
        public CompletableFuture<String> send(String tenant, String id) throws InterruptedException {
            Thread.sleep(20);
            System.out.println("sent " + id);
            return CompletableFuture.completedFuture(id);
        }
    }
}
