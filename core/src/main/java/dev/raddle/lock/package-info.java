/**
 * The lock and the padding under the data structures of all packages. Not exported, and imports no other package.
 */
package dev.raddle.lock;
