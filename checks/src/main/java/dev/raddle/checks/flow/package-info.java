/**
 * Tests the flow engine against a file of cases. Start at {@link dev.raddle.checks.flow.FlowCases}; {@code
 * checks/flow-cases FILE.json} runs it.
 *
 * <p>A case is a small flow whose actions wait at gates, a script that opens the gates in an order, and the expected
 * outcome of every node. {@code CasePlan} builds the flow and {@code CaseRun} runs it, both through the public API of
 * {@code dev.raddle.flow}; no other class here uses the engine. {@code RunProbe} records what actions and callbacks
 * observe, and {@code Judge} compares the record with the expectations of the case and with the rules that hold for
 * every run.
 */
package dev.raddle.checks.flow;
