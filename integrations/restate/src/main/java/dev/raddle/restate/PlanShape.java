package dev.raddle.restate;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.PlanNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The nodes and dependencies of a plan, with which a later attempt of a run checks that it has the plan that the run
 * began with.
 *
 * @param nodes the digest of each node by its id, in the order of declaration
 */
record PlanShape(Map<String, String> nodes) {

    private static final int MAX_NAMED = 5;

    static PlanShape of(FlowPlan<?, ?> plan) {
        Map<String, String> nodes = new LinkedHashMap<>();
        for (PlanNode node : plan.nodes()) {
            nodes.put(node.id(), node.digest());
        }
        return new PlanShape(nodes);
    }

    byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(nodes.size());
            for (Map.Entry<String, String> node : nodes.entrySet()) {
                out.writeUTF(node.getKey());
                out.writeUTF(node.getValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the id of a node is too long", e);
        }
        return bytes.toByteArray();
    }

    static PlanShape fromBytes(byte[] bytes) {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        Map<String, String> nodes = new LinkedHashMap<>();
        try {
            for (int left = in.readInt(); left > 0; left--) {
                String id = in.readUTF();
                nodes.put(id, in.readUTF());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the stored plan is damaged", e);
        }
        return new PlanShape(nodes);
    }

    /** Returns what has changed since an earlier shape, or an empty text. */
    String differenceTo(PlanShape earlier) {
        List<String> changes = new ArrayList<>();
        nodes.forEach((id, digest) -> {
            String before = earlier.nodes.get(id);
            if (before == null) {
                changes.add("node \"" + id + "\" is new");
            } else if (!before.equals(digest)) {
                changes.add("node \"" + id + "\" has other dependencies");
            }
        });
        earlier.nodes.keySet().stream()
                .filter(id -> !nodes.containsKey(id))
                .forEach(id -> changes.add("node \"" + id + "\" is gone"));
        if (changes.isEmpty() && !List.copyOf(nodes.keySet()).equals(List.copyOf(earlier.nodes.keySet()))) {
            return "its nodes are declared in another order";
        }
        int more = changes.size() - MAX_NAMED;
        return String.join(", ", changes.subList(0, Math.min(changes.size(), MAX_NAMED)))
                + (more > 0 ? ", and " + more + " more" : "");
    }
}
