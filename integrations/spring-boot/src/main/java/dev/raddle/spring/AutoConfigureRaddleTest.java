package dev.raddle.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Gives the executors and pools of a test's application a {@link dev.raddle.testing.VirtualTime}, which is a bean:
 * timeouts, rates and holds pass only when the test advances it. The tasks run in real threads. When the context is
 * closed, tasks that still run are interrupted at once.
 *
 * {@snippet :
 * @SpringBootTest
 * @AutoConfigureRaddleTest
 * class ShopTest {
 *     @Autowired VirtualTime time;
 *     @Autowired Shop shop;
 *
 *     @Test
 *     void an_order_that_waits_too_long_is_rejected() throws Exception {
 *         CompletableFuture<Receipt> order = shop.place("acme");
 *         time.awaitAlarms(1);
 *         time.advance(Duration.ofSeconds(2)); // no real time passes
 *         assertThatThrownBy(order::get).hasCauseInstanceOf(RejectedTaskException.class);
 *     }
 * }
 * }
 *
 * <p>A flow service uses the time of its database and of the machine. When the context is closed, it leaves its runs to
 * other workers at once.
 *
 * <p>Tests with the same context share the time. It never goes back, so a test should advance it relative to what it
 * finds.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration(VirtualTimeAutoConfiguration.class)
public @interface AutoConfigureRaddleTest {}
