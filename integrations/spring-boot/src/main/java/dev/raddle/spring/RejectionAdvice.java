package dev.raddle.spring;

import dev.raddle.group.RejectedTaskException;
import dev.raddle.task.TaskTimeoutException;
import java.time.Duration;
import java.util.Set;
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

    private static final Set<String> OF_THE_GROUP = Set.of("group-queue", "bulkhead", "rate", "permits");

    private final String retryAfterSeconds;

    RejectionAdvice(Duration retryAfter) {
        retryAfterSeconds = Long.toString(retryAfter.plusMillis(999).toSeconds());
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> rejected(RejectedTaskException rejected) {
        String reason = rejected.reason().split(":", 2)[0];
        return OF_THE_GROUP.contains(reason)
                ? answer(HttpStatus.TOO_MANY_REQUESTS, "Too many requests are in progress.")
                : answer(HttpStatus.SERVICE_UNAVAILABLE, "The service is busy.");
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> timedOut(TaskTimeoutException timeout) {
        return answer(HttpStatus.SERVICE_UNAVAILABLE, "The request took too long.");
    }

    private ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail) {
        return ResponseEntity.status(status)
                .header(HttpHeaders.RETRY_AFTER, retryAfterSeconds)
                .body(ProblemDetail.forStatusAndDetail(status, detail));
    }
}
