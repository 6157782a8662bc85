/**
 * Structured concurrency with the names of JDK 27: code moves by one import in either direction. Start at
 * {@link dev.raddle.structured.StructuredTaskScope}. The API of JDK 21 to 24, with constructors and
 * {@code ShutdownOnFailure}, is {@link dev.raddle.scope.StructuredTaskScope}; both have the same engine.
 *
 * <p>Unless stated otherwise nothing is null, and a scope is confined to its owner, the thread that opened it. Closing
 * scopes in another order than the reverse of their opening, and forking under other scoped values than a scope was
 * opened with, throw {@link dev.raddle.scope.StructureViolationException}.
 */
package dev.raddle.structured;
