/**
 * The lock, the padding and the handles of fields under the data structures of all packages, and Raddle's own threads.
 * Not exported, and imports no other package.
 */
package dev.raddle.lock;
