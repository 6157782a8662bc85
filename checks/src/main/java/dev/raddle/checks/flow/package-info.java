/**
 * Does the flow engine do what a file of cases says? Start at {@link dev.raddle.checks.flow.FlowCases}; {@code
 * checks/flow-cases FILE.json} runs it.
 *
 * <p>A case is a small flow whose actions wait at gates, a script that opens the gates in an order, and the outcome that is
 * expected of every node. {@code CasePlan} builds the flow and {@code CaseRun} runs it, both through the public API of
 * {@code dev.raddle.flow}; nothing else here knows the engine. {@code RunProbe} writes down what actions and callbacks see,
 * and {@code Judge} compares that with what the case expects and with what holds for every run.
 */
package dev.raddle.checks.flow;
