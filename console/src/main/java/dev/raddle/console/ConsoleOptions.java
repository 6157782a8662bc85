package dev.raddle.console;

import dev.raddle.task.CheckReturnValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link Console}. Immutable.
 *
 * {@snippet :
 * ConsoleOptions options = ConsoleOptions.defaults().withPort(9090).withTokenFile(Path.of("/run/secrets/console"));
 * }
 *
 * <p>A console without a token is open to all users of its machine, and only shows things. A token is needed to reach a
 * console from other machines, and to change limits or cancel tasks in it. It can also be in the environment variable
 * {@code RADDLE_CONSOLE_TOKEN}, which applies if no token is set here.
 */
@CheckReturnValue
public final class ConsoleOptions {

    /** The environment variable that has the token if the options have none. */
    static final String TOKEN_VARIABLE = "RADDLE_CONSOLE_TOKEN";

    private static final int SHORTEST_TOKEN = 16;

    /** The settings. Changed only before the options that have them are created. */
    static final class Draft implements Cloneable {
        @Nullable
        String title;

        int port = 9090;
        String host = "localhost";

        @Nullable
        String token;

        boolean controls;
        int clients = 50;
        Set<String> allowedHosts = Set.of();

        Draft copy() {
            try {
                return (Draft) clone();
            } catch (CloneNotSupportedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    private static final ConsoleOptions DEFAULTS = new ConsoleOptions(new Draft());

    final Draft all;

    private ConsoleOptions(Draft draft) {
        all = draft;
    }

    private ConsoleOptions with(Consumer<Draft> change) {
        Draft draft = all.copy();
        change.accept(draft);
        return new ConsoleOptions(draft);
    }

    /**
     * Returns the default settings: port 9090 of the loopback address, no token, no controls, 50 clients.
     *
     * @return the same options at every call
     */
    public static ConsoleOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with a name of the program, which the page shows. Without one it is that of the main class.
     *
     * @param name the name
     * @return new options
     */
    public ConsoleOptions withTitle(String name) {
        Objects.requireNonNull(name, "name");
        return with(draft -> draft.title = name);
    }

    /**
     * Returns these options with another port.
     *
     * @param port the port; 0 for any free one, which {@link Console#uri()} then has
     * @return new options
     * @throws IllegalArgumentException if it is not between 0 and 65535
     */
    public ConsoleOptions withPort(int port) {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port must be between 0 and 65535, was " + port);
        }
        return with(draft -> draft.port = port);
    }

    /**
     * Returns these options with another address to listen at. One that other machines can reach needs a token.
     *
     * @param host a name or an address of this machine, or {@code 0.0.0.0} for all
     * @return new options
     */
    public ConsoleOptions withHost(String host) {
        Objects.requireNonNull(host, "host");
        return with(draft -> draft.host = host);
    }

    /**
     * Returns these options with a token, which a browser asks for once and other clients send as a bearer token.
     *
     * @param token the token, at least 16 characters
     * @return new options
     * @throws IllegalArgumentException if it is shorter, or has other characters than letters, digits and punctuation
     *     of ASCII
     */
    public ConsoleOptions withToken(String token) {
        String checked = checkedToken(token);
        return with(draft -> draft.token = checked);
    }

    /** Checks a token, and does not quote it. */
    static String checkedToken(String token) {
        if (token.length() < SHORTEST_TOKEN || !token.chars().allMatch(c -> c > ' ' && c < 127)) {
            throw new IllegalArgumentException("the token must have at least " + SHORTEST_TOKEN
                    + " characters, all of them letters, digits or punctuation of ASCII");
        }
        return token;
    }

    /**
     * Returns these options with the token in a file, without the white space around it.
     *
     * @param file the file, which is read now
     * @return new options
     * @throws UncheckedIOException if the file cannot be read
     * @throws IllegalArgumentException as {@link #withToken} does
     */
    public ConsoleOptions withTokenFile(Path file) {
        try {
            return withToken(Files.readString(file).strip());
        } catch (IOException failure) {
            throw new UncheckedIOException("the token of the console cannot be read from " + file, failure);
        }
    }

    /**
     * Returns these options with or without controls: whether a user may change limits and rates, pause, hold and evict
     * groups, cancel tasks and runs, and deliver signals. They need a token.
     *
     * @param enabled whether there are controls
     * @return new options
     */
    public ConsoleOptions withControls(boolean enabled) {
        return with(draft -> draft.controls = enabled);
    }

    /**
     * Returns these options with another largest number of clients that look at the same time. Further ones are refused
     * until one goes.
     *
     * @param count the largest number of open pages, at least 1
     * @return new options
     * @throws IllegalArgumentException if it is less than 1
     */
    public ConsoleOptions withClients(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("clients must be at least 1, was " + count);
        }
        return with(draft -> draft.clients = count);
    }

    /**
     * Returns these options with names under which this machine is reached, such as that of a proxy. Requests for
     * {@code localhost}, for an address and for {@linkplain #withHost the host} are answered in any case, and all
     * others refused, so that the page of another site cannot have a name of its own lead here.
     *
     * @param names the names, without a port
     * @return new options
     */
    public ConsoleOptions withAllowedHosts(String... names) {
        Set<String> allowed = new LinkedHashSet<>();
        for (String name : names) {
            allowed.add(name.toLowerCase(Locale.ROOT));
        }
        return with(draft -> draft.allowedHosts = Set.copyOf(allowed));
    }
}
