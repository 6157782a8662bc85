package dev.raddle.spring;

import dev.raddle.group.RejectedTaskException;
import dev.raddle.scope.ScopeTimeoutException;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.task.WaitReason;
import java.time.Duration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * Answers requests whose tasks were rejected: with 429 if a limit of the request's group is the reason, so that its
 * sender should send less, and with 503 if the whole executor is full, or a deadline has passed. An advice of the
 * application is asked first. The answer does not name the key, which may be a secret of another tenant.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class RejectionAdvice {

    private final Duration retryAfter;

    RejectionAdvice(Duration retryAfter) {
        this.retryAfter = retryAfter;
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> rejected(RejectedTaskException rejected) {
        Rejection rejection = rejected.rejection();
        Duration nextStart = rejection.nextStart();
        Duration wait = nextStart == null || nextStart.isZero() ? retryAfter : nextStart;
        return isOfGroup(rejection)
                ? answer(HttpStatus.TOO_MANY_REQUESTS, "Too many requests are in progress.", wait)
                : answer(HttpStatus.SERVICE_UNAVAILABLE, "The service is busy.", wait);
    }

    /** Returns whether limits of the group alone kept the task from starting. */
    private static boolean isOfGroup(Rejection rejection) {
        WaitReason obstacle = rejection.obstacle();
        boolean byGroup = obstacle == WaitReason.GROUP_LIMIT
                || obstacle == WaitReason.BULKHEAD
                || obstacle == WaitReason.GROUP_RATE;
        return switch (rejection.reason()) {
            case RATE -> obstacle != WaitReason.GLOBAL_RATE;
            case GROUP_QUEUE, BULKHEAD, PERMITS -> true;
            case QUEUE_TIMEOUT -> byGroup;
            default -> false;
        };
    }

    @ExceptionHandler({TaskTimeoutException.class, ScopeTimeoutException.class})
    ResponseEntity<ProblemDetail> timedOut() {
        return answer(HttpStatus.SERVICE_UNAVAILABLE, "The request took too long.", retryAfter);
    }

    private static ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail, Duration wait) {
        return ResponseEntity.status(status)
                .header(
                        HttpHeaders.RETRY_AFTER,
                        Long.toString(Math.max(1, wait.plusMillis(999).toSeconds())))
                .body(ProblemDetail.forStatusAndDetail(status, detail));
    }
}
