package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.examples.RateLimitedClientExample.Answer;
import dev.raddle.examples.RateLimitedClientExample.Call;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RateLimitedClientExampleTest {

    private final VirtualTime time = new VirtualTime();
    private final BlockingQueue<Call> called = new LinkedBlockingQueue<>();
    private final SynchronousQueue<Integer> answers = new SynchronousQueue<>();

    private FutureTask<Map<String, Integer>> run(Call... calls) {
        FutureTask<Map<String, Integer>> run = new FutureTask<>(() -> RateLimitedClientExample.callAll(
                List.of(calls),
                call -> {
                    called.add(call);
                    return new Answer(answers.take(), Duration.ofSeconds(5));
                },
                time));
        Thread.ofVirtual().start(run);
        return run;
    }

    @Test
    void after_a_refusal_nothing_is_called_before_the_time_that_the_server_asked_for() throws Exception {
        Call first = new Call("search", "/1", 1);
        Call second = new Call("search", "/2", 1);
        FutureTask<Map<String, Integer>> run = run(first, second);
        called.take();
        called.take();
        answers.put(429); // to either of the two
        time.awaitAlarms(1); // of the hold
        answers.put(200);

        time.advance(Duration.ofMillis(4_999));
        assertThat(called).isEmpty();
        time.advance(Duration.ofMillis(1));
        Call again = called.take();
        answers.put(200);

        assertThat(again).isIn(first, second);
        assertThat(run.get()).hasSize(2).containsEntry(again.path(), 2);
    }

    @Test
    void a_call_that_costs_as_much_as_the_whole_burst_delays_the_next() throws Exception {
        Call export = new Call("archive", "/export", 60);
        Call next = new Call("archive", "/next", 1);
        FutureTask<Map<String, Integer>> run = run(export, next);
        assertThat(called.take()).isEqualTo(export);
        answers.put(200); // it has taken all slots of its group, too
        time.awaitAlarms(1);

        time.advance(Duration.ofMillis(999));
        assertThat(called).isEmpty();
        time.advance(Duration.ofMillis(1));
        assertThat(called.take()).isEqualTo(next);
        answers.put(200);

        assertThat(run.get()).isEqualTo(Map.of("/export", 1, "/next", 1));
    }
}
