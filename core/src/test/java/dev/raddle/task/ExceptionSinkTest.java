package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.fail;

import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.WrittenLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ExceptionSinkTest {

    private WrittenLog log;

    @BeforeEach
    void openLog() throws ReflectiveOperationException {
        log = new WrittenLog();
    }

    @AfterEach
    void closeLog() throws ReflectiveOperationException {
        log.close();
    }

    @Test
    void each_exception_is_counted_and_passed_to_the_target() {
        List<Object> received = new ArrayList<>();
        ExceptionSink sink = ExceptionSink.to((source, error) -> received.addAll(List.of(source, error)));
        Error error = new Error();
        Exception exception = new Exception();

        sink.report("listener", error);
        sink.report("resolver", exception);

        assertThat(received).containsExactly("listener", error, "resolver", exception);
        assertThat(sink.count()).isEqualTo(2);
        assertThat(sink).hasToString("exception sink, 2 so far");
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void a_guarded_call_reports_what_it_throws_and_describes_itself_only_then() {
        List<Object> received = new ArrayList<>();
        ExceptionSink sink = ExceptionSink.to((source, error) -> received.addAll(List.of(source, error)));
        Error error = new Error();
        Thread caller = Thread.currentThread();

        sink.guard(() -> fail("nothing was thrown"), () -> received.add(Thread.currentThread()));
        sink.guard(() -> "listener", () -> {
            throw error;
        });

        assertThat(received).containsExactly(caller, "listener", error);
    }

    @Test
    void a_guarded_call_whose_description_throws_does_not_throw_either() {
        List<Throwable> uncaught = new ArrayList<>();
        IllegalStateException broken = new IllegalStateException("description");
        ExceptionSink sink = ExceptionSink.to((source, error) -> {});
        Thread self = Thread.currentThread();
        self.setUncaughtExceptionHandler((thread, error) -> uncaught.add(error));
        try {
            sink.guard(
                    () -> {
                        throw broken;
                    },
                    () -> {
                        throw new Error();
                    });
        } finally {
            self.setUncaughtExceptionHandler(null);
        }

        assertThat(uncaught).containsExactly(broken);
    }

    @Test
    void a_target_must_not_be_null() {
        assertThatNullPointerException()
                .isThrownBy(() -> ExceptionSink.to(null))
                .withMessage("target");
    }

    @Test
    void an_exception_from_the_target_goes_to_the_log_with_the_reported_exception() {
        StackOverflowError thrown = new StackOverflowError();
        ExceptionSink sink = ExceptionSink.to((source, error) -> {
            throw thrown;
        });
        Exception reported = new Exception();

        sink.report("listener", reported);

        assertThat(sink.count()).isEqualTo(1);
        assertThat(log.lines()).hasSize(1);
        assertThat(log.lines().getFirst().message()).contains("exception sink, reporting listener");
        assertThat(log.lines().getFirst().thrown()).isSameAs(thrown);
        assertThat(thrown.getSuppressed()).containsExactly(reported);
    }

    @Test
    void a_target_may_rethrow_the_reported_exception() {
        IllegalStateException reported = new IllegalStateException();
        ExceptionSink sink = ExceptionSink.to((source, error) -> {
            throw (IllegalStateException) error;
        });

        assertThatCode(() -> sink.report("listener", reported)).doesNotThrowAnyException();

        assertThat(log.lines()).hasSize(1);
        assertThat(log.lines().getFirst().thrown()).isSameAs(reported);
    }

    @Test
    void a_limited_sink_passes_ten_exceptions_a_minute_to_its_target() {
        VirtualTime time = new VirtualTime();
        List<String> lines = new ArrayList<>();
        ExceptionSink sink = ExceptionSink.limited((source, error) -> lines.add(source), time);
        for (int i = 0; i < 12; i++) {
            sink.report("listener", new Exception());
        }
        assertThat(lines).hasSize(10);

        time.advance(Duration.ofMinutes(1));
        sink.report("listener", new Exception());

        assertThat(lines).hasSize(11);
        assertThat(lines.getLast()).isEqualTo("listener (and 2 more that were not written)");
        assertThat(sink.count()).isEqualTo(13);
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void the_log_gets_ten_lines_a_minute_and_then_the_number_of_omitted_ones() {
        VirtualTime time = new VirtualTime();
        ExceptionSink sink = ExceptionSink.to(new ExceptionSink.Log(time));
        for (int i = 0; i < 35; i++) {
            sink.report("listener " + i, new Exception());
        }
        assertThat(log.lines()).hasSize(10);
        assertThat(log.lines().getLast().message()).isEqualTo("suppressed exception from listener 9");

        time.advance(Duration.ofSeconds(59));
        sink.report("too early", new Exception());
        assertThat(log.lines()).hasSize(10);

        time.advance(Duration.ofSeconds(1));
        sink.report("next minute", new Exception());
        sink.report("and one more", new Exception());

        assertThat(log.lines()).hasSize(12);
        assertThat(log.lines().get(10).message())
                .isEqualTo("suppressed exception from next minute (and 26 more that were not written)");
        assertThat(log.lines().get(11).message()).isEqualTo("suppressed exception from and one more");
        assertThat(sink.count()).isEqualTo(38);
    }

    @Test
    void the_default_sink_writes_to_the_log() {
        Error error = new Error();

        ExceptionSink.logging().report("scheduler function", error);

        assertThat(log.lines()).hasSize(1);
        assertThat(log.lines().getFirst().thrown()).isSameAs(error);
    }
}
