package dev.raddle.spring;

import dev.raddle.group.Explanation;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupStats;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskTimeoutException;
import java.time.Duration;
import java.util.Comparator;
import java.util.stream.StreamSupport;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * Answers requests whose tasks were rejected: with 429 if the group of the request is full, so that its sender should
 * send less, and with 503 if the whole executor is, or a wait took too long. An advice of the application is asked
 * first. The answer does not name the key, which may be a secret of another tenant.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class RejectionAdvice {

    private final Duration retryAfter;
    private final Iterable<GroupExecutor> executors;

    RejectionAdvice(Duration retryAfter, Iterable<GroupExecutor> executors) {
        this.retryAfter = retryAfter;
        this.executors = executors;
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> rejected(RejectedTaskException rejected) {
        Rejection.Reason reason = rejected.rejection().reason();
        Duration wait = reason == Rejection.Reason.RATE ? nextStart(rejected.groupKey()) : retryAfter;
        return switch (reason) {
            case GROUP_QUEUE, BULKHEAD, RATE, PERMITS ->
                answer(HttpStatus.TOO_MANY_REQUESTS, "Too many requests are in progress.", wait);
            default -> answer(HttpStatus.SERVICE_UNAVAILABLE, "The service is busy.", wait);
        };
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> timedOut(TaskTimeoutException timeout) {
        return answer(HttpStatus.SERVICE_UNAVAILABLE, "The request took too long.", retryAfter);
    }

    /** Returns when the rate of a key allows its next start, by the executor where that is soonest. */
    private Duration nextStart(String key) {
        return StreamSupport.stream(executors.spliterator(), false)
                .flatMap(executor -> executor.explainNext(key).map(Explanation::nextStart).stream())
                .min(Comparator.naturalOrder())
                .orElseGet(() -> interval(key));
    }

    /** Returns the time between two starts by the rate of a key that has no waiting task. */
    private Duration interval(String key) {
        return StreamSupport.stream(executors.spliterator(), false)
                .flatMap(executor -> executor.groupStats(key).map(GroupStats::rate).stream())
                .map(rate -> rate.period().dividedBy(rate.count()))
                .min(Comparator.naturalOrder())
                .orElse(retryAfter);
    }

    private static ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail, Duration wait) {
        return ResponseEntity.status(status)
                .header(
                        HttpHeaders.RETRY_AFTER,
                        Long.toString(Math.max(1, wait.plusMillis(999).toSeconds())))
                .body(ProblemDetail.forStatusAndDetail(status, detail));
    }
}
