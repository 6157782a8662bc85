/**
 * Groups, pools and durable flows in applications of Spring Boot. Start at {@link dev.raddle.spring.RaddleProperties},
 * whose {@code raddle.groups} and {@code raddle.pools} become beans, at {@link dev.raddle.spring.Grouped}, which runs a
 * method under the limits of a group, and at {@link dev.raddle.spring.FlowRegistration}, which is a flow whose runs are
 * kept in a database.
 *
 * <p>Everything is configured automatically if the libraries for it are there. A bean of the application replaces the
 * one that would be configured. Nothing is null unless stated otherwise.
 */
@NullMarked
package dev.raddle.spring;

import org.jspecify.annotations.NullMarked;
