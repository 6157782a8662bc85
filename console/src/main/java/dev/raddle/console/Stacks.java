package dev.raddle.console;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What stacks of running tasks say: where they are, whether they wait for a lock or a result, and which are equal. */
final class Stacks {

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

    /** The stack of a task, when it was read. */
    record Read(Finding.Task task, List<StackTraceElement> frames, boolean isBlocked) {

        String text() {
            return Failures.textOf(frames);
        }

        boolean waitsForLock() {
            return isBlocked || hasOneOf(LOCKS);
        }

        boolean waitsForResult() {
            return hasOneOf(RESULTS);
        }

        private boolean hasOneOf(Set<String> methods) {
            for (StackTraceElement frame : frames) {
                if (methods.contains(frame.getClassName() + "." + frame.getMethodName())) {
                    return true;
                }
                if (!isOfLibrary(frame)) {
                    return false;
                }
            }
            return false;
        }

        /** Returns the innermost frame of the program. */
        @Nullable
        StackTraceElement place() {
            for (StackTraceElement frame : frames) {
                if (!isOfLibrary(frame)) {
                    return frame;
                }
            }
            return null;
        }

        /** Returns whether a frame is of the same method as a place. */
        boolean isInside(StackTraceElement place) {
            for (StackTraceElement frame : frames) {
                if (frame.getClassName().equals(place.getClassName())
                        && frame.getMethodName().equals(place.getMethodName())) {
                    return true;
                }
            }
            return false;
        }
    }

    private Stacks() {}

    static boolean isOfLibrary(StackTraceElement frame) {
        String name = frame.getClassName();
        return LIBRARY.matcher(name).lookingAt();
    }

    static Read read(Finding.Task task, Thread thread) {
        Thread.State state = thread.getState();
        return new Read(task, List.of(thread.getStackTrace()), state == Thread.State.BLOCKED);
    }

    /** Returns the stacks with equal ones together, the largest number first. */
    static List<List<Read>> merged(List<Read> all) {
        Map<List<StackTraceElement>, List<Read>> merged = new LinkedHashMap<>();
        all.forEach(read ->
                merged.computeIfAbsent(read.frames, _ -> new ArrayList<>()).add(read));
        return merged.values().stream()
                .sorted(Comparator.comparingInt((List<Read> equal) -> equal.size())
                        .reversed())
                .toList();
    }

    /** Returns a place as people say it: class without package, method, file and line. */
    static String placeOf(@Nullable StackTraceElement frame) {
        if (frame == null) {
            return "an unknown place";
        }
        String type = frame.getClassName();
        String place = type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName();
        return frame.getFileName() == null
                ? place
                : place + " (" + frame.getFileName() + ":" + frame.getLineNumber() + ")";
    }
}
