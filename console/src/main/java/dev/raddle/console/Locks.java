package dev.raddle.console;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The locks for which threads wait, as far as the JVM says. */
final class Locks {

    /**
     * What threads wait for.
     *
     * @param lock the class of the object and a number that it has alone
     * @param ownerId the number of the thread that has it; 0 if the JVM does not say
     * @param ownerName the name of that thread
     */
    record Wait(String lock, long ownerId, @Nullable String ownerName) {}

    /** Whether the JVM has the module that knows the owners of locks, which is optional. */
    private static final boolean KNOWS_OWNERS =
            ModuleLayer.boot().findModule("java.management").isPresent();

    private Locks() {}

    /** Returns the object for which all of some threads wait; null if there is none, or the JVM does not say. */
    static @Nullable Wait commonOf(List<Thread> threads) {
        Wait common = null;
        for (Thread thread : threads) {
            Wait wait = waitOf(thread);
            if (wait == null || (common != null && !common.lock.equals(wait.lock))) {
                return null;
            }
            common = common == null || common.ownerId == 0 ? wait : common;
        }
        return common;
    }

    private static @Nullable Wait waitOf(Thread thread) {
        ThreadInfo info = thread.isVirtual() || !KNOWS_OWNERS
                ? null // the JVM has no information about virtual threads
                : ManagementFactory.getThreadMXBean().getThreadInfo(thread.threadId());
        LockInfo lock = info == null ? null : info.getLockInfo();
        if (info != null && lock != null) {
            String name = nameOf(lock.getClassName(), lock.getIdentityHashCode());
            return new Wait(name, Math.max(0, info.getLockOwnerId()), info.getLockOwnerName());
        }
        Object blocker = LockSupport.getBlocker(thread);
        return blocker == null
                ? null
                : new Wait(nameOf(blocker.getClass().getName(), System.identityHashCode(blocker)), 0, null);
    }

    /** Returns the name of the class around the one that waits: that of a lock, not of its queue. */
    private static String nameOf(String type, int number) {
        String simple = type.substring(type.lastIndexOf('.') + 1);
        int inner = simple.indexOf('$');
        return (inner > 0 ? simple.substring(0, inner) : simple) + "@" + Integer.toHexString(number);
    }
}
