package dev.raddle.time;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Arms the first alarm of a JVM in a virtual thread, which waits for the timer, and lets another virtual thread keep
 * the only carrier busy from then on. Prints a line when alarms of other threads have fired.
 */
final class FirstAlarm {

    private FirstAlarm() {}

    @SuppressWarnings("ThreadPriorityCheck") // no other thread shall run on the carrier
    public static void main(String[] args) throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> {
            Thread.ofVirtual().start(() -> {
                busy.countDown();
                while (true) {
                    Thread.onSpinWait();
                }
            });
            TimeSource.system().after(Duration.ofMillis(1), () -> {});
            Thread.yield(); // if it did not wait
        });
        busy.await();
        CountDownLatch fired = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) { // on all wheels
            Thread.ofPlatform().daemon().start(() -> TimeSource.system().after(Duration.ofMillis(5), fired::countDown));
        }
        boolean allFired = fired.await(30, TimeUnit.SECONDS);
        System.out.println(allFired ? "fired" : fired.getCount() + " of 100 alarms have not fired");
    }
}
