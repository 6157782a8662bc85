import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Runs the same scenarios with the JDK's preview of the scopes and with Raddle's, in one process, and prints each
 * scenario in which they differ. What the table in the guide lists as different is translated: exceptions and results
 * of the joiners. Compiled and started by a test.
 */
public final class BesideTheJdk {

    enum Rule {
        AWAIT,
        ALL,
        ANY,
        UNTIL_FAILURE,
        UNTIL_THROWS
    }

    interface Sub {
        String state();

        String get();

        Throwable exception();
    }

    interface Scope {
        Sub fork(Callable<String> task);

        Object join() throws Exception;

        boolean isCancelled();

        void close();
    }

    interface Api {
        Scope open(Rule rule, Duration timeout, ThreadFactory factory);

        default Scope open(Rule rule) {
            return open(rule, null, Thread.ofVirtual().factory());
        }
    }

    interface Scenario {
        void run(Api api, List<String> seen) throws Exception;
    }

    /** The scopes of JDK 25. */
    static final class Jdk implements Api {
        @Override
        public Scope open(Rule rule, Duration timeout, ThreadFactory factory) {
            java.util.concurrent.StructuredTaskScope.Joiner<String, ?> joiner = switch (rule) {
                case AWAIT -> java.util.concurrent.StructuredTaskScope.Joiner.awaitAllSuccessfulOrThrow();
                case ALL -> java.util.concurrent.StructuredTaskScope.Joiner.allSuccessfulOrThrow();
                case ANY -> java.util.concurrent.StructuredTaskScope.Joiner.anySuccessfulResultOrThrow();
                case UNTIL_FAILURE ->
                    java.util.concurrent.StructuredTaskScope.Joiner.allUntil(
                            each -> each.state() == java.util.concurrent.StructuredTaskScope.Subtask.State.FAILED);
                case UNTIL_THROWS ->
                    java.util.concurrent.StructuredTaskScope.Joiner.allUntil(each -> {
                        throw new IllegalStateException("of the predicate");
                    });
            };
            var scope = java.util.concurrent.StructuredTaskScope.open(
                    joiner,
                    config -> timeout == null
                            ? config.withThreadFactory(factory)
                            : config.withThreadFactory(factory).withTimeout(timeout));
            return new Scope() {
                @Override
                public Sub fork(Callable<String> task) {
                    var subtask = scope.fork(task);
                    return sub(() -> subtask.state().name(), subtask::get, subtask::exception);
                }

                @Override
                public Object join() throws Exception {
                    try {
                        Object result = scope.join();
                        return switch (rule) {
                            case AWAIT, ANY -> result;
                            case ALL -> subtasks(result).map(each -> each.get()).toList();
                            case UNTIL_FAILURE, UNTIL_THROWS ->
                                subtasks(result)
                                        .map(each -> each.state().name())
                                        .toList();
                        };
                    } catch (java.util.concurrent.StructuredTaskScope.FailedException failed) {
                        throw new Exception(
                                "failed: " + failed.getCause().getClass().getName());
                    } catch (java.util.concurrent.StructuredTaskScope.TimeoutException late) {
                        throw new Exception("timeout");
                    }
                }

                @SuppressWarnings("unchecked")
                private java.util.stream.Stream<java.util.concurrent.StructuredTaskScope.Subtask<String>> subtasks(
                        Object result) {
                    return (java.util.stream.Stream<java.util.concurrent.StructuredTaskScope.Subtask<String>>) result;
                }

                @Override
                public boolean isCancelled() {
                    return scope.isCancelled();
                }

                @Override
                public void close() {
                    scope.close();
                }
            };
        }
    }

    /** The scopes of Raddle. */
    static final class Raddle implements Api {
        @Override
        public Scope open(Rule rule, Duration timeout, ThreadFactory factory) {
            dev.raddle.structured.StructuredTaskScope.Joiner<String, ?, ? extends Exception> joiner = switch (rule) {
                case AWAIT -> dev.raddle.structured.StructuredTaskScope.Joiner.awaitAllSuccessfulOrThrow();
                case ALL -> dev.raddle.structured.StructuredTaskScope.Joiner.allSuccessfulOrThrow();
                case ANY -> dev.raddle.structured.StructuredTaskScope.Joiner.anySuccessfulOrThrow();
                case UNTIL_FAILURE ->
                    dev.raddle.structured.StructuredTaskScope.Joiner.allUntil(
                            each -> each.state() == dev.raddle.structured.StructuredTaskScope.Subtask.State.FAILED);
                case UNTIL_THROWS ->
                    dev.raddle.structured.StructuredTaskScope.Joiner.allUntil(each -> {
                        throw new IllegalStateException("of the predicate");
                    });
            };
            return opened(rule, joiner, timeout, factory);
        }

        private static <R, X extends Exception> Scope opened(
                Rule rule,
                dev.raddle.structured.StructuredTaskScope.Joiner<String, R, X> joiner,
                Duration timeout,
                ThreadFactory factory) {
            var scope = dev.raddle.structured.StructuredTaskScope.open(
                    joiner,
                    config -> timeout == null
                            ? config.withThreadFactory(factory)
                            : config.withThreadFactory(factory).withTimeout(timeout));
            return new Scope() {
                @Override
                public Sub fork(Callable<String> task) {
                    var subtask = scope.fork(task);
                    return sub(() -> subtask.state().name(), subtask::get, subtask::exception);
                }

                @Override
                public Object join() throws Exception {
                    try {
                        R result = scope.join();
                        return rule == Rule.UNTIL_FAILURE || rule == Rule.UNTIL_THROWS
                                ? ((List<?>) result)
                                        .stream()
                                                .map(each -> ((dev.raddle.structured.StructuredTaskScope.Subtask<?>)
                                                                each)
                                                        .state()
                                                        .name())
                                                .toList()
                                : result;
                    } catch (Exception failed) {
                        if (!(failed instanceof java.util.concurrent.ExecutionException)) {
                            throw failed;
                        }
                        Throwable cause = failed.getCause();
                        throw new Exception(
                                cause.getClass().getSimpleName().equals("CancelledByTimeoutException")
                                        ? "timeout"
                                        : "failed: " + cause.getClass().getName());
                    }
                }

                @Override
                public boolean isCancelled() {
                    return scope.isCancelled();
                }

                @Override
                public void close() {
                    scope.close();
                }
            };
        }
    }

    private static Sub sub(Supplier<String> state, Supplier<String> value, Supplier<Throwable> exception) {
        return new Sub() {
            @Override
            public String state() {
                return state.get();
            }

            @Override
            public String get() {
                return value.get();
            }

            @Override
            public Throwable exception() {
                return exception.get();
            }
        };
    }

    private static String forever() throws InterruptedException {
        new CountDownLatch(1).await();
        return "never";
    }

    private static String fail() {
        throw new ArithmeticException("planned");
    }

    /** Records what a call returns, or the class and, for an exception of a join, the message of what it throws. */
    private static void record(List<String> seen, String what, Callable<?> call) {
        try {
            seen.add(what + " returned " + call.call());
        } catch (Throwable thrown) {
            seen.add(what + " threw "
                    + (thrown.getClass() == Exception.class
                            ? thrown.getMessage()
                            : thrown.getClass().getSimpleName()));
        }
    }

    private static Map<String, Scenario> scenarios() {
        Map<String, Scenario> all = new TreeMap<>();
        for (Rule rule : Rule.values()) {
            for (String outcomes : List.of("", "s", "f", "ss", "sf", "ff", "sss", "sn")) {
                if (rule == Rule.UNTIL_FAILURE && outcomes.length() > 1) {
                    continue; // what has ended at the cancel depends on the order in time
                }
                all.put("joining " + outcomes + " by " + rule, (api, seen) -> {
                    Scope scope = api.open(rule, null, quiet());
                    List<Sub> subtasks = new ArrayList<>();
                    int number = 0;
                    for (char outcome : outcomes.toCharArray()) {
                        String value = outcome == 'n' ? null : rule == Rule.ANY ? "any" : "v" + number++;
                        if (rule == Rule.ANY && outcome == 'n') {
                            continue;
                        }
                        subtasks.add(scope.fork(() -> outcome == 'f' ? fail() : value));
                    }
                    record(seen, "join", scope::join);
                    if (!outcomes.contains("f") && rule != Rule.ANY) {
                        subtasks.forEach(each -> record(seen, "get", each::get));
                        subtasks.forEach(each -> record(seen, "exception", each::exception));
                    }
                    record(seen, "cancelled if decided", () -> scope.isCancelled() || outcomes.isEmpty());
                    record(seen, "second join", scope::join);
                    record(seen, "late fork", () -> scope.fork(() -> "late"));
                    record(seen, "close", () -> {
                        scope.close();
                        return "";
                    });
                    record(seen, "cancelled after close", () -> scope.isCancelled() || outcomes.isEmpty());
                });
            }
            if (rule != Rule.UNTIL_FAILURE && rule != Rule.UNTIL_THROWS) {
                all.put("timeout of " + rule, (api, seen) -> {
                    Scope scope = api.open(rule, Duration.ofMillis(20), quiet());
                    Sub slow = scope.fork(BesideTheJdk::forever);
                    record(seen, "join", scope::join);
                    record(seen, "cancelled", scope::isCancelled);
                    scope.close();
                    record(seen, "state", slow::state);
                    record(seen, "get", slow::get);
                });
            }
            all.put("close without join of " + rule, (api, seen) -> {
                Scope scope = api.open(rule, null, quiet());
                Sub slow = scope.fork(BesideTheJdk::forever);
                record(seen, "get", slow::get);
                record(seen, "close", () -> {
                    scope.close();
                    return "";
                });
                record(seen, "cancelled", scope::isCancelled);
                record(seen, "state", slow::state);
                record(seen, "fork", () -> scope.fork(() -> "late"));
                record(seen, "join", scope::join);
                scope.close();
            });
        }
        all.put("a join is interrupted and the scope closed", (api, seen) -> {
            Scope scope = api.open(Rule.ALL);
            Sub subtask = scope.fork(BesideTheJdk::forever);
            Thread.currentThread().interrupt();
            record(seen, "join", scope::join);
            record(seen, "status", Thread::interrupted);
            record(seen, "get", subtask::get);
            record(seen, "close", () -> {
                scope.close();
                return "";
            });
            record(seen, "state", subtask::state);
            record(seen, "cancelled", scope::isCancelled);
        });
        all.put("other threads", (api, seen) -> {
            Scope scope = api.open(Rule.AWAIT);
            AtomicReference<List<String>> inside = new AtomicReference<>();
            scope.fork(() -> {
                List<String> here = new ArrayList<>();
                record(here, "fork", () -> scope.fork(() -> ""));
                record(here, "join", scope::join);
                record(here, "close", () -> {
                    scope.close();
                    return "";
                });
                inside.set(here);
                return "";
            });
            scope.join();
            scope.close();
            seen.addAll(inside.get());
        });
        all.put("a factory without threads", (api, seen) -> {
            Scope scope = api.open(Rule.AWAIT, null, run -> null);
            record(seen, "fork", () -> scope.fork(() -> ""));
            record(seen, "close", () -> {
                scope.close();
                return "";
            });
        });
        all.put("null", (api, seen) -> {
            Scope scope = api.open(Rule.AWAIT);
            record(seen, "fork", () -> scope.fork(null));
            record(seen, "factory", () -> api.open(Rule.AWAIT, null, null));
            scope.close();
        });
        all.put("closing in the wrong order", (api, seen) -> {
            Scope outer = api.open(Rule.AWAIT);
            Scope inner = api.open(Rule.AWAIT);
            record(seen, "close", () -> {
                outer.close();
                return "";
            });
            AtomicReference<Sub> late = new AtomicReference<>();
            record(seen, "fork", () -> {
                late.set(inner.fork(() -> "never"));
                return late.get().state();
            });
            record(seen, "join", inner::join);
            record(seen, "close of the inner one", () -> {
                inner.close();
                return "";
            });
        });
        all.put("other scoped values", (api, seen) -> {
            ScopedValue<String> value = ScopedValue.newInstance();
            Scope scope = api.open(Rule.AWAIT);
            ScopedValue.where(value, "bound").run(() -> record(seen, "fork", () -> scope.fork(value::get)));
            record(seen, "join", scope::join);
            scope.close();
            ScopedValue.where(value, "bound").call(() -> {
                Scope inner = api.open(Rule.ALL);
                inner.fork(value::get);
                record(seen, "join", inner::join);
                inner.close();
                return "";
            });
        });
        return all;
    }

    /** Returns a factory of threads that print no exceptions. */
    private static ThreadFactory quiet() {
        return run -> {
            Thread thread = Thread.ofVirtual().unstarted(run);
            thread.setUncaughtExceptionHandler((ignored, failure) -> {});
            return thread;
        };
    }

    public static void main(String[] arguments) throws Exception {
        int differences = 0;
        Map<String, Scenario> scenarios = scenarios();
        for (Map.Entry<String, Scenario> each : scenarios.entrySet()) {
            List<String> jdk = new ArrayList<>();
            List<String> raddle = new ArrayList<>();
            each.getValue().run(new Jdk(), jdk);
            each.getValue().run(new Raddle(), raddle);
            if (!jdk.equals(raddle)) {
                differences++;
                System.out.println(each.getKey() + ":\n  JDK    " + jdk + "\n  Raddle " + raddle);
            }
        }
        System.out.println(scenarios.size() + " scenarios, " + differences + " differences");
    }

    private BesideTheJdk() {}
}
