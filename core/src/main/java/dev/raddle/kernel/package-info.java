/**
 * The engine under all APIs: the life of a run, and the permission to run. Not exported. Start at
 * {@link dev.raddle.kernel.TaskRun} for the first and at {@link dev.raddle.kernel.Gate} for the second.
 *
 * <p>A callable is submitted, admitted, placed on a thread, run and settled. {@link dev.raddle.kernel.TaskRun} holds
 * its state from submission to settlement; {@link dev.raddle.kernel.Attempts}, {@link dev.raddle.kernel.TimeLimit},
 * {@link dev.raddle.kernel.Propagation} and {@link dev.raddle.kernel.Recorder} add retries, deadlines, context and
 * events. {@link dev.raddle.kernel.Dispatch} starts runs without growing the stack.
 *
 * <p>A {@link dev.raddle.kernel.Permit} is one request for the right to run. It enters the gate of its key and is held
 * at once, waits there, or is refused. A {@link dev.raddle.kernel.FairCap} bounds all gates of an executor together and
 * shares its slots between them by weight. A thread that releases permits receives those that become possible in
 * {@link dev.raddle.kernel.GrantedPermits} and starts them outside every lock. Held permits are counted in slots, of
 * which a permit of cost n takes n; waiting permits are counted one by one.
 *
 * <p>Unless stated otherwise nothing is null, every class is safe for many threads, and moments are values of the time
 * source's clock in nanoseconds.
 */
package dev.raddle.kernel;
