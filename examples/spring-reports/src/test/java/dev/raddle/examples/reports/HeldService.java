package dev.raddle.examples.reports;

import dev.raddle.processes.WorkerJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.context.event.EventListener;

/**
 * The service in a process of its own, for {@link SigtermTest}. Calls for tenants whose names begin with "held" wait
 * until the test sends that name, and are reported to the test when they begin.
 */
class HeldService {

    private static final Map<String, CountDownLatch> HELD = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws IOException {
        Thread.ofPlatform().daemon().start(HeldService::readNames);
        new SpringApplication(ReportsApplication.class, HeldService.class).run(arguments);
    }

    private static void readNames() {
        try (BufferedReader names = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String name; (name = names.readLine()) != null; ) {
                latchOf(name).countDown();
            }
        } catch (IOException end) {
            // the test is gone
        }
    }

    private static CountDownLatch latchOf(String tenant) {
        return HELD.computeIfAbsent(tenant, name -> new CountDownLatch(1));
    }

    @EventListener
    void started(WebServerInitializedEvent event) {
        WorkerJvm.answer("port " + event.getWebServer().getPort());
    }

    @Bean
    @Primary
    Backends heldUntilNamed() {
        HeldBackends backends = new HeldBackends();
        backends.hold.countDown();
        return new Backends() {
            @Override
            public int rows(String tenant) throws InterruptedException {
                if (tenant.startsWith("held")) {
                    WorkerJvm.answer("begun " + tenant);
                    latchOf(tenant).await();
                }
                return backends.rows(tenant);
            }

            @Override
            public int rate(String currency) {
                return backends.rate(currency);
            }

            @Override
            public String headline(String tenant) throws InterruptedException {
                return backends.headline(tenant);
            }
        };
    }
}
