package dev.raddle.group;

import dev.raddle.task.Rejection;
import dev.raddle.task.WaitReason;

/**
 * Why a group does not run a task, as one section under its lock has found it.
 *
 * @param reason the rule that rejects the task
 * @param why the obstacle of the task, or of the first one before it
 * @param load the load that leaves no room for it
 */
record Refusal(Rejection.Reason reason, Explanation why, Rejection.Load load) {

    /** Returns the rejection of a task, whose description begins with some text. */
    Rejection of(GroupRun<?> run, String beginning) {
        GroupEngine engine = run.group.engine;
        String text = reason + ": " + beginning + text(GroupMonitor.withFleet(engine, run, why));
        return new Rejection(reason, text, engine.policy.name(), why.waitingFor(), why.nextStart(), load);
    }

    private String text(Explanation full) {
        String used = load.running() + " of " + numberOf(load.limit());
        String waiting = load.waiting() + " of " + numberOf(load.capacity()) + " waiting";
        return switch (reason) {
            case RATE -> {
                String scope = why.waitingFor() == WaitReason.GLOBAL_RATE ? " in all groups" : "";
                yield why.rate() + scope + why.nextStartText() + ", " + waiting;
            }
            case PERMITS -> {
                String fleet = full.fleet() == null ? null : full.fleet().obstacle();
                yield load.limit() + " permits of the fleet, " + load.running() + " running, " + waiting
                        + (fleet == null ? "" : ", " + fleet);
            }
            case BREAKER -> why.breaker() + why.nextStartText();
            case GLOBAL_QUEUE -> waiting + " in all groups, " + used + " slots held";
            case QUEUE_TIMEOUT -> obstacleText() + used + " running, " + waiting;
            default -> used + " running, " + waiting;
        };
    }

    private String obstacleText() {
        return switch (why.waitingFor()) {
            case GROUP_LIMIT, NOTHING -> "";
            case GLOBAL_CAP -> "waits for a slot of the global cap, ";
            default -> why.waitText() + ", ";
        };
    }

    private static String numberOf(int most) {
        return most == Integer.MAX_VALUE ? "unlimited" : String.valueOf(most);
    }
}
