package dev.raddle.console;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Where in the code a thread is, and what that says: whether it waits for a lock or for the result of another task.
 *
 * @param frames the innermost frame first
 * @param isBlocked whether the thread waits for a monitor
 */
record Stack(List<StackTraceElement> frames, boolean isBlocked) {

    private static final int MOST_FRAMES = 60;
    private static final Pattern LIBRARY = Pattern.compile(
            "(java|jdk|sun|dev\\.raddle\\.(task|time|kernel|lock|pool|scope|structured|group|flow))\\.");
    private static final Set<String> LOCKS = Set.of(
            "java.util.concurrent.locks.ReentrantLock.lock",
            "java.util.concurrent.locks.ReentrantLock.lockInterruptibly",
            "java.util.concurrent.locks.ReentrantLock.tryLock",
            "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock",
            "java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock",
            "java.util.concurrent.locks.StampedLock.readLock",
            "java.util.concurrent.locks.StampedLock.writeLock");
    private static final Set<String> RESULTS = Set.of(
            "java.util.concurrent.FutureTask.get",
            "java.util.concurrent.CompletableFuture.get",
            "java.util.concurrent.CompletableFuture.join",
            "java.util.concurrent.AbstractExecutorService.invokeAll",
            "java.util.concurrent.AbstractExecutorService.invokeAny",
            "dev.raddle.group.GroupRun.await",
            "dev.raddle.group.GroupRun.join");

    static Stack of(Thread thread) {
        boolean isBlocked = thread.getState() == Thread.State.BLOCKED;
        return new Stack(List.of(thread.getStackTrace()), isBlocked);
    }

    static boolean isOfLibrary(StackTraceElement frame) {
        return LIBRARY.matcher(frame.getClassName()).lookingAt();
    }

    boolean waitsForLock() {
        return isBlocked || isInOneOf(LOCKS);
    }

    boolean waitsForResult() {
        return isInOneOf(RESULTS);
    }

    private boolean isInOneOf(Set<String> methods) {
        return frames.stream()
                .takeWhile(frame -> isOfLibrary(frame) || methods.contains(methodOf(frame)))
                .anyMatch(frame -> methods.contains(methodOf(frame)));
    }

    /** Returns the innermost frame of the program. */
    Optional<StackTraceElement> place() {
        return frames.stream().filter(frame -> !isOfLibrary(frame)).findFirst();
    }

    /** Returns whether a frame is of the same method as the place of another stack. */
    boolean isInsidePlaceOf(Stack other) {
        return other.place()
                .filter(place ->
                        frames.stream().anyMatch(frame -> methodOf(frame).equals(methodOf(place))))
                .isPresent();
    }

    private static String methodOf(StackTraceElement frame) {
        return frame.getClassName() + "." + frame.getMethodName();
    }

    /** Returns the stack as text. */
    String text() {
        return textOf(frames);
    }

    static String textOf(List<StackTraceElement> frames) {
        StringBuilder text = new StringBuilder();
        for (StackTraceElement frame : frames.subList(0, Math.min(MOST_FRAMES, frames.size()))) {
            text.append("    at ").append(frame).append('\n');
        }
        if (frames.size() > MOST_FRAMES) {
            text.append("    … ").append(frames.size() - MOST_FRAMES).append(" more\n");
        }
        return text.toString();
    }

    /** Returns the place as people say it. */
    String placeText() {
        return place().map(Stack::textOf).orElse("an unknown place");
    }

    /** Returns a frame as people say it: class without package, method, file and line. */
    static String textOf(StackTraceElement frame) {
        String method = methodOf(frame);
        String place = method.substring(frame.getClassName().lastIndexOf('.') + 1);
        return frame.getFileName() == null
                ? place
                : place + " (" + frame.getFileName() + ":" + frame.getLineNumber() + ")";
    }
}
