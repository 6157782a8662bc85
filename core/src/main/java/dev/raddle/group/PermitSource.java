package dev.raddle.group;

/**
 * Says how many permits of each group this JVM has at present, for limits that hold over several JVMs. A group of an
 * executor whose policy has a {@linkplain GroupPolicy.Builder#permits permit source} starts a task only with a permit
 * that the source has granted, and within all other limits of its policy.
 *
 * <p>The executor and the source exchange permits through two objects. The executor notifies the source of its demand
 * through a {@link Session}; the source grants, revokes and reclaims permits through a {@link Holder}. Both sides may
 * be late, repeat themselves or fail: a permit is used only between its grant and its return, so the tasks of a group
 * never take more permits than the source has granted and not taken back.
 *
 * {@snippet :
 * Session open(Holder holder) { // a source that grants what is wanted, up to a limit for all keys together
 *     return new Session() {
 *         public void demand(String groupKey, int wanted, int unused) {
 *             free.addAndGet(holder.reclaim(groupKey, unused).total());
 *             for (int i = 0; i < wanted && takeOne(free); i++) {
 *                 if (!holder.grant(groupKey, fences.incrementAndGet())) {
 *                     free.incrementAndGet(); // the tasks have left meanwhile
 *                 }
 *             }
 *         }
 *
 *         public void close() {}
 *     };
 * }
 * }
 *
 * <p>An exception that a method of the session throws is reported to the policy's {@link
 * dev.raddle.task.ExceptionSink}. The tasks keep waiting; after an exception of {@link Session#demand}, the next change
 * of the group reports its demand again.
 */
@FunctionalInterface
public interface PermitSource {

    /**
     * Begins to serve an executor. Called once for each executor, when it is created, by the thread that creates it. An
     * exception is thrown to that thread, and there is no executor.
     *
     * @param holder the executor, which holds no permits yet
     * @return the session, which the executor closes when it has terminated
     */
    Session open(Holder holder);

    /**
     * The source, as seen by one executor. Its methods are called without a lock. {@link #demand} and {@link #close}
     * are called by a thread of their own, never by two at once, and may block; only the reports of the executor wait
     * then.
     */
    interface Session extends AutoCloseable {

        /**
         * Notifies the source of the demand of a group. Demands are states, not changes: the last one of a group is
         * valid, and those between may have been left out. Each permit that the source grants afterwards counts against
         * it: a group that wanted two permits and was granted one is taken to want one more, and is reported only if
         * that is not true. A group whose tasks only come and go may now want less than
         * was reported last, and what is unused is reported once until it is reclaimed; a source that leaves unused
         * permits where they are for some time calls {@link Holder#reclaim} afterwards.
         *
         * @param groupKey the key of the group
         * @param wanted the number of further permits that waiting tasks could use at present, at least 0
         * @param unused the number of granted permits that no task uses and no waiting task can use; the source may
         *     {@linkplain Holder#reclaim reclaim} them
         */
        void demand(String groupKey, int wanted, int unused);

        /**
         * Describes where a group stands. Called for explanations and statistics, by any thread at any time; must not
         * wait.
         *
         * @param groupKey the key of the group
         * @return what the source knows at present; this implementation returns {@link PermitStatus#UNKNOWN}
         */
        default PermitStatus status(String groupKey) {
            return PermitStatus.UNKNOWN;
        }

        /**
         * Ends the session. No task uses a permit any more; the source returns all that it had granted. The executor
         * waits for this method for a bounded time.
         */
        @Override
        void close();
    }

    /**
     * The executor, as seen by the source. Its methods may be called at any time, from any thread, also within {@link
     * PermitSource#open} and {@link Session#demand}. They decide at once and do not wait for tasks; a task that a grant
     * allows to start is started by another thread.
     */
    interface Holder {

        /**
         * Grants one permit of a group, which may be used by one task after the other until it is taken back.
         *
         * @param groupKey the key of the group
         * @param fence the fencing number of the grant, larger than that of any earlier grant of the group
         * @return false if the executor does not accept the permit, because the group has no tasks and was removed
         */
        boolean grant(String groupKey, long fence);

        /**
         * Grants one permit of a group for one task. Used for limits on the tasks that start per time.
         *
         * @param groupKey the key of the group
         * @param fence the fencing number of the grant, larger than that of any earlier grant of the group
         * @return false if the executor does not accept the permit, because the group has no tasks and was removed
         */
        boolean grantOnce(String groupKey, long fence);

        /**
         * Takes unused permits back. The source may grant them elsewhere afterwards.
         *
         * @param groupKey the key of the group
         * @param most the largest number to take, at least 0
         * @return the permits that were taken
         */
        Reclaimed reclaim(String groupKey, int most);

        /**
         * Returns how many permits the first waiting task of a group lacks. Fewer are of no use to it. A source that
         * grants no fewer keeps tasks from waiting for each other's permits.
         *
         * @param groupKey the key of the group
         * @return the number of permits, at least 1; 1 if no task waits for permits
         */
        default int neededAtOnce(String groupKey) {
            return 1;
        }

        /**
         * Takes back the permits that are kept for a waiting task which costs more than there are, and that no task
         * uses. The task goes on waiting, and all of its permits are wanted. A source calls this when such tasks, of
         * several groups or executors, may wait for each other's permits.
         *
         * @param groupKey the key of the group
         * @return the permits that were taken; none if no permit is wanted
         */
        default Reclaimed reclaimGathered(String groupKey) {
            return Reclaimed.NONE;
        }

        /**
         * Takes permits back although tasks may be using them, because they were lost: unused permits first, then those
         * of the tasks that started last. Tasks that lose their permits are cancelled if the policy {@linkplain
         * LostPermitPolicy says so}; until they have ended, they count against permits that are granted later.
         *
         * @param groupKey the key of the group
         * @param permits the number to take; more than there are takes all
         * @param reason the reason, for the cancelled tasks
         * @return the number of permits that were taken
         */
        int revoke(String groupKey, int permits, String reason);

        /**
         * Sets the limit that all JVMs share. A task that costs more permits takes this many. Has no effect on a group
         * without tasks; a group that is removed when it is idle forgets the limit.
         *
         * @param groupKey the key of the group
         * @param permits the limit, at least 1
         */
        void limit(String groupKey, int permits);
    }

    /**
     * Permits that were taken back from an executor.
     *
     * @param unused the number of permits that no task has used
     * @param used the number of permits that at least one task has used
     */
    record Reclaimed(int unused, int used) {
        /** No permits. */
        public static final Reclaimed NONE = new Reclaimed(0, 0);

        /**
         * Returns the number of all these permits.
         *
         * @return the sum
         */
        public int total() {
            return unused + used;
        }
    }
}
