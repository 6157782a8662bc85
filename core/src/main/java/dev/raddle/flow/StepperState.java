package dev.raddle.flow;

import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/** The state of a stepper as bytes. */
final class StepperState {

    /*
     * Overview. The bytes are
     *
     *   magic number, version
     *   plan           name, digest, and a signature of each node, to name the nodes that differ
     *   run            options, moments, parameter, signals that are kept
     *   runs           of the run and of each nested run that has not ended, outer runs first: its path; its nodes
     *                  with their slots, counters and times; its compensations
     *   CRC32          of everything before
     *
     * Slots and counters are those of NodeStates, as they are: a run whose plan has the same digest means the same by
     * them. The plan of a nested run is built again, from the values of its upstreams. Alarms that are due at the same
     * moment fire in the order in which they were set; so each is written with its number, and all of them are set
     * again in that order when everything else has been read.
     *
     * Exceptions are written as their texts (RecordedFailure). One that is the cause of several ends stays one object.
     */

    /** A state that was loaded. */
    record Loaded(Stepping stepping, SteppedRun root, boolean hasStarted) {}

    /** An alarm that was set when the state was saved. */
    private record Armed(long nanos, long sequence, Runnable arming) {}

    private static final int MAGIC = 0x52464c53;
    private static final byte VERSION = 1;
    private static final int SHOWN = 10;

    // The contents of a slot.
    private static final byte PENDING = 0;
    private static final byte READY = 1;
    private static final byte PLAIN_VALUE = 2;
    private static final byte NULL_VALUE = 3;
    private static final byte END = 4;
    private static final byte CALL = 5;
    private static final byte NESTED = 6;
    private static final byte WAIT = 7;

    private StepperState() {}

    // Saving.

    static byte[] save(Stepping stepping, SteppedRun root, boolean hasStarted, FlowCodec codec) throws IOException {
        StateOutput out = new StateOutput(codec);
        RunEnvironment run = root.run;
        out.data.writeInt(MAGIC);
        out.data.writeByte(VERSION);
        writePlan(out, run.graph);
        writeOptions(out, run.options);
        out.data.writeBoolean(hasStarted);
        Instant origin = stepping.time.origin();
        out.data.writeLong(origin.getEpochSecond());
        out.data.writeInt(origin.getNano());
        out.data.writeLong(stepping.time.nanoTime());
        out.value(run.parameter());
        Map<String, SignalBox> kept = run.signals == null ? Map.of() : run.signals.kept();
        out.data.writeInt(kept.size());
        for (Map.Entry<String, SignalBox> each : kept.entrySet()) {
            out.text(each.getKey());
            out.value(each.getValue().value());
        }
        Map<String, SteppedRun> runs = stepping.runs();
        out.data.writeInt(runs.size());
        for (SteppedRun each : runs.values()) {
            writeRun(out, each);
        }
        byte[] bytes = out.toBytes();
        CRC32 sum = new CRC32();
        sum.update(bytes);
        return ByteBuffer.allocate(bytes.length + Long.BYTES)
                .put(bytes)
                .putLong(sum.getValue())
                .array();
    }

    private static void writePlan(StateOutput out, Graph graph) throws IOException {
        out.text(graph.name);
        out.text(graph.digest());
        out.data.writeInt(graph.size);
        for (int node = 0; node < graph.size; node++) {
            out.text(graph.ids[node]);
            out.text(graph.signature(node));
        }
    }

    private static void writeOptions(StateOutput out, RunOptions options) throws IOException {
        out.constant(options.onFailure);
        out.constant(options.obsolete);
        out.data.writeBoolean(options.timed);
        out.data.writeBoolean(options.timeout != null);
        out.data.writeLong(options.timeout == null ? 0 : Deadline.nanos(options.timeout));
        out.data.writeInt(options.only.size());
        for (String each : options.only) {
            out.text(each);
        }
    }

    private static void writeRun(StateOutput out, SteppedRun stepped) throws IOException {
        RunEnvironment run = stepped.run;
        NodeStates states = run.states;
        out.text(stepped.outer == null ? "" : stepped.outer.run.path);
        out.data.writeInt(stepped.outerNode);
        out.text(run.graph.digest());
        for (int node = 0; node < run.graph.size; node++) {
            writeSlot(out, stepped, node);
        }
        out.numbers(states.counters());
        int[] consumers = states.knownConsumers();
        out.data.writeBoolean(consumers != null);
        out.numbers(consumers == null ? new int[0] : consumers);
        for (float each : states.times()) {
            out.data.writeFloat(each);
        }
        stepped.transitions.write(out);
        writeAlarm(out, stepped.alarm);
        writeUndo(out, stepped.undo);
        out.data.writeBoolean(stepped.hasEnded());
    }

    private static void writeUndo(StateOutput out, StepperUndo undo) throws IOException {
        out.data.writeBoolean(undo.hasBegun());
        out.constant(undo.hasBegun() ? undo.status() : FlowStatus.SUCCESS);
        out.numbers(undo.nodes());
        out.data.writeInt(undo.position());
        out.data.writeInt(undo.failures().size());
        for (CompensationFailure failure : undo.failures()) {
            out.text(failure.node());
            out.failure(failure.cause());
        }
    }

    private static void writeSlot(StateOutput out, SteppedRun stepped, int node) throws IOException {
        RunEnvironment run = stepped.run;
        Object slot = run.states.get(node);
        switch (slot) {
            case null -> out.data.writeByte(PENDING);
            case NodePhase.Plain _ -> out.data.writeByte(READY);
            case NodeEnd end -> writeEnd(out, run, node, end);
            case SteppedCall call -> writeCall(out, call);
            case NestedRun _ -> out.data.writeByte(NESTED);
            case NodeWait wait -> writeWait(out, wait);
            default -> {
                out.data.writeByte(slot == NodeStates.NULL ? NULL_VALUE : PLAIN_VALUE);
                if (slot != NodeStates.NULL) {
                    writeValue(out, run, node, slot);
                }
            }
        }
        Deadline timeout = run.nodeTimeouts == null ? null : run.nodeTimeouts.deadline(node);
        out.data.writeBoolean(timeout != null);
        if (timeout != null) {
            out.data.writeLong(timeout.nanoTime());
            writeAlarm(out, Objects.requireNonNull(run.nodeTimeouts).alarm(node));
        }
    }

    private static void writeValue(StateOutput out, RunEnvironment run, int node, @Nullable Object value)
            throws IOException {
        try {
            if (run.graph.is(Graph.NESTED, node)) {
                out.nestedValue(value);
            } else {
                out.value(value);
            }
        } catch (IOException | RuntimeException failure) {
            throw new IOException(
                    "the value of node \"" + run.path + run.graph.ids[node] + "\" of flow \"" + run.graph.name
                            + "\" cannot be saved; use a codec for it",
                    failure);
        }
    }

    private static void writeEnd(StateOutput out, RunEnvironment run, int node, NodeEnd end) throws IOException {
        out.data.writeByte(END);
        out.constant(end.state());
        out.constant(end.via());
        out.constant(end.reason());
        out.data.writeInt(end.causedBy());
        out.data.writeLong(end.nanos());
        writeValue(out, run, node, end.value());
        out.failure(end.cause());
    }

    private static void writeCall(StateOutput out, SteppedCall call) throws IOException {
        out.data.writeByte(CALL);
        out.data.writeInt(call.attempt);
        out.text(call.group);
        out.failures(call.earlier);
        out.failure(call.failure);
        writeAlarm(out, call.delayed);
    }

    private static void writeWait(StateOutput out, NodeWait wait) throws IOException {
        out.data.writeByte(WAIT);
        out.data.writeBoolean(wait.until != null);
        if (wait.until != null) {
            out.data.writeLong(wait.until.nanoTime());
            writeAlarm(out, wait.alarm());
        }
    }

    private static void writeAlarm(StateOutput out, @Nullable Object alarm) throws IOException {
        StepperTime.Moment moment = (StepperTime.Moment) alarm;
        if (moment == null || !moment.isSet()) {
            out.data.writeBoolean(false);
        } else {
            out.data.writeBoolean(true);
            out.data.writeLong(moment.nanos);
            out.data.writeLong(moment.sequence);
        }
    }

    // Loading.

    static Loaded load(Graph graph, byte[] saved, FlowCodec codec, RunOptions options) throws IOException {
        if (saved.length < Integer.BYTES + 1 + Long.BYTES
                || ByteBuffer.wrap(saved).getInt() != MAGIC) {
            throw new IOException("the " + saved.length + " bytes are not a saved state of a stepper");
        }
        byte version = saved[Integer.BYTES];
        if (version != VERSION) {
            throw new IOException("the saved state has version " + version + " of the format, and this library reads "
                    + VERSION + "; load it with the version that saved it");
        }
        int length = saved.length - Long.BYTES;
        CRC32 sum = new CRC32();
        sum.update(saved, 0, length);
        if (ByteBuffer.wrap(saved).getLong(length) != sum.getValue()) {
            throw new IOException("the saved state is damaged or incomplete: the checksum of its " + saved.length
                    + " bytes is wrong");
        }
        StateInput in = new StateInput(Arrays.copyOf(saved, length), codec);
        in.data.skipNBytes(Integer.BYTES + 1);
        readPlan(in, graph);
        try {
            return new Loading(in, graph, options).load();
        } catch (IOException | RuntimeException failure) {
            throw new IOException(
                    "the saved state of a stepper of flow \"" + graph.name
                            + "\" cannot be read; load it with the codec that saved it",
                    failure);
        }
    }

    private static void readPlan(StateInput in, Graph graph) throws IOException {
        String name = in.knownText();
        String digest = in.knownText();
        int size = in.count(2 * Integer.BYTES);
        Map<String, String> signatures = new LinkedHashMap<>();
        for (int node = 0; node < size; node++) {
            signatures.put(in.knownText(), in.knownText());
        }
        if (!name.equals(graph.name)) {
            throw new IllegalArgumentException(
                    "the saved state is of flow \"" + name + "\", and this is flow \"" + graph.name + "\"");
        }
        if (!digest.equals(graph.digest())) {
            throw new IllegalArgumentException("the saved state is of another plan of flow \"" + name + "\": "
                    + differences(signatures, graph) + "; load it with the plan that it was saved with");
        }
    }

    private static String differences(Map<String, String> saved, Graph graph) {
        List<String> found = new ArrayList<>();
        for (int node = 0; node < graph.size; node++) {
            String id = graph.ids[node];
            String signature = saved.remove(id);
            if (signature == null) {
                found.add("node \"" + id + "\" was added");
            } else if (!signature.equals(graph.signature(node))) {
                found.add("node \"" + id + "\" has other dependencies, or is of another kind");
            }
        }
        saved.keySet().forEach(id -> found.add("node \"" + id + "\" was removed"));
        if (found.isEmpty()) {
            return "its nodes were declared in another order, or it has other outputs";
        }
        int more = found.size() - SHOWN;
        return String.join(", ", found.subList(0, Math.min(SHOWN, found.size())))
                + (more > 0 ? " and " + more + " more" : "");
    }

    /** One loading. */
    private static final class Loading {
        private final StateInput in;
        private final Graph graph;
        private final RunOptions options;
        private final Stepping stepping;
        private final List<Armed> alarms = new ArrayList<>();
        private final Map<String, SteppedRun> runs = new LinkedHashMap<>(); // by path

        Loading(StateInput in, Graph graph, RunOptions given) {
            this.in = in;
            this.graph = graph;
            options = given.copy();
            stepping = new Stepping(given.time == null ? TimeSource.system() : given.time);
        }

        Loaded load() throws IOException {
            readOptions();
            boolean hasStarted = in.data.readBoolean();
            stepping.time.setOrigin(Instant.ofEpochSecond(in.data.readLong(), in.data.readInt()));
            long now = in.data.readLong();
            SteppedRun root = new SteppedRun(stepping, graph, in.value(), options, null, NodeEnd.NO_NODE);
            stepping.time.moveTo(now);
            int kept = in.count(1);
            for (int each = 0; each < kept; each++) {
                Objects.requireNonNull(root.run.signals).deliver(in.knownText(), in.value());
            }
            int count = in.count(1);
            for (int each = 0; each < count; each++) {
                readRun(each == 0 ? root : null);
            }
            in.ensureEnd();
            alarms.sort((one, other) -> one.nanos() == other.nanos()
                    ? Long.compare(one.sequence(), other.sequence())
                    : Long.compare(one.nanos(), other.nanos()));
            alarms.forEach(each -> each.arming().run());
            return new Loaded(stepping, root, hasStarted);
        }

        private void readOptions() throws IOException {
            options.onFailure = in.constant(OnFailure.class);
            options.obsolete = in.constant(UnneededPolicy.class);
            options.timed = in.data.readBoolean();
            boolean isLimited = in.data.readBoolean();
            long nanos = in.data.readLong();
            options.timeout = isLimited ? Duration.ofNanos(nanos) : null;
            options.deadline = null;
            options.journal = null;
            List<String> only = new ArrayList<>();
            int count = in.count(Integer.BYTES);
            for (int each = 0; each < count; each++) {
                only.add(in.knownText());
            }
            options.only = List.copyOf(only);
        }

        private void readRun(@Nullable SteppedRun root) throws IOException {
            String outerPath = in.knownText();
            int outerNode = in.data.readInt();
            SteppedRun stepped = root == null ? nested(outerPath, outerNode) : root;
            RunEnvironment run = stepped.run;
            String digest = in.knownText();
            if (!digest.equals(run.graph.digest())) {
                throw new IOException("the nested flow \"" + run.path + "\" has other nodes than when it was saved; a "
                        + "codec must return equal values");
            }
            stepping.begun(stepped);
            runs.put(run.path, stepped);
            for (int node = 0; node < run.graph.size; node++) {
                readSlot(stepped, node);
            }
            int[] counters = in.numbers();
            boolean hasConsumers = in.data.readBoolean();
            int[] consumers = in.numbers();
            run.states.restore(counters, hasConsumers ? consumers : null);
            float[] times = run.states.times();
            for (int each = 0; each < times.length; each++) {
                times[each] = in.data.readFloat();
            }
            stepped.transitions.read(in);
            readAlarm((nanos, sequence) -> alarms.add(new Armed(
                    nanos,
                    sequence,
                    () -> stepped.alarm = Objects.requireNonNull(run.deadline()).alarm(stepped::outOfTime))));
            readUndo(stepped.undo);
            if (in.data.readBoolean()) {
                stepped.restoreEnd();
            }
        }

        private void readUndo(StepperUndo undo) throws IOException {
            boolean hasBegun = in.data.readBoolean();
            FlowStatus status = in.constant(FlowStatus.class);
            int[] order = in.numbers();
            int position = in.data.readInt();
            int size = in.count(2 * Integer.BYTES);
            List<CompensationFailure> failures = new ArrayList<>(size);
            for (int each = 0; each < size; each++) {
                failures.add(new CompensationFailure(in.text(), in.knownFailure()));
            }
            if (hasBegun) {
                undo.restore(status, order, position, failures);
            }
        }

        /** Builds the plan of a nested run again. */
        private SteppedRun nested(String outerPath, int outerNode) throws IOException {
            SteppedRun around = runs.get(outerPath);
            if (around == null || outerNode < 0 || outerNode >= around.run.graph.size) {
                throw new IOException("the nested flow in \"" + outerPath + "\" has no outer flow");
            }
            try {
                SteppedRun nested = around.newNested(outerNode);
                if (around.run.states.get(outerNode) == PLACEHOLDER) {
                    around.run.states.set(outerNode, nested);
                }
                return nested;
            } catch (Exception failure) {
                throw new IOException("the nested flow \"" + around.pathOf(outerNode) + "\" cannot be built", failure);
            }
        }

        private void readSlot(SteppedRun stepped, int node) throws IOException {
            RunEnvironment run = stepped.run;
            byte tag = in.data.readByte();
            Object slot = switch (tag) {
                case PENDING -> null;
                case READY -> NodePhase.Plain.READY;
                case PLAIN_VALUE -> in.value();
                case NULL_VALUE -> NodeStates.NULL;
                case END -> readEnd();
                case CALL -> readCall(stepped, node);
                case NESTED -> PLACEHOLDER;
                case WAIT -> readWait(run, node);
                default -> throw new IOException("there is no phase " + tag);
            };
            run.states.restoreSlot(node, slot);
            if (in.data.readBoolean()) {
                Deadline until = new Deadline(run.time, in.data.readLong());
                NodeTimeouts timeouts = Objects.requireNonNull(run.nodeTimeouts);
                Duration length =
                        Objects.requireNonNull(run.graph.optionsOf(node).timeout());
                timeouts.restore(node, until);
                readAlarm((nanos, sequence) ->
                        alarms.add(new Armed(nanos, sequence, () -> timeouts.arm(node, length, until))));
            }
        }

        private NodeEnd readEnd() throws IOException {
            NodeState state = in.constant(NodeState.class);
            ValueSource via = in.constant(ValueSource.class);
            NodeEnd.Reason reason = in.constant(NodeEnd.Reason.class);
            int causedBy = in.data.readInt();
            long nanos = in.data.readLong();
            Object value = in.value();
            return new NodeEnd(state, via, value, in.failure(), reason, causedBy, nanos);
        }

        private SteppedCall readCall(SteppedRun stepped, int node) throws IOException {
            int attempt = in.data.readInt();
            String group = in.text();
            List<Throwable> earlier = in.failures();
            SteppedCall call = new SteppedCall(stepped, node, attempt, group, earlier, in.failure());
            readAlarm((nanos, sequence) -> alarms.add(new Armed(
                    nanos, sequence, () -> call.delayed = stepping.time.at(nanos, () -> stepped.beginAttempt(call)))));
            return call;
        }

        private NodeWait readWait(RunEnvironment run, int node) throws IOException {
            NodeWaits waits = Objects.requireNonNull(run.waits);
            if (!in.data.readBoolean()) {
                NodeWait wait = new NodeWait(waits, node, null);
                Objects.requireNonNull(run.signals)
                        .box(run.path + run.graph.ids[node])
                        .await(wait);
                return wait;
            }
            NodeWait wait = new NodeWait(waits, node, new Deadline(run.time, in.data.readLong()));
            readAlarm((nanos, sequence) -> alarms.add(new Armed(nanos, sequence, () -> waits.arm(new Runner(), wait))));
            return wait;
        }

        /** Receives an alarm that is to be set again. */
        private interface AlarmSink {
            void accept(long nanos, long sequence);
        }

        private void readAlarm(AlarmSink sink) throws IOException {
            if (in.data.readBoolean()) {
                sink.accept(in.data.readLong(), in.data.readLong());
            }
        }
    }

    /** In a slot until the nested run is read. */
    private static final NodePhase PLACEHOLDER = new NodePhase() {};
}
