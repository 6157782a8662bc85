package dev.raddle.console;

import com.sun.net.httpserver.Headers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks the host, the site and the token of requests. */
final class Guard {

    /*
     * Overview.
     *
     *   host    The page of another site can make a browser ask this machine, under a host name that the site
     *           resolves to this machine (DNS rebinding). It cannot do so with an address or with "localhost", so
     *           these are answered, and of all other names those in the options.
     *   site    A browser says which site has made it ask. Requests from others are refused, except for the page
     *           itself, to which other sites may link. A request that changes something is refused unless it says
     *           that it is from the page, or has the token with it.
     *   token   Compared by digests, in constant time. A browser sends it once, and then a cookie, which the page
     *           cannot read, which is not sent for other sites, and which ends with this JVM. Wrong tokens are
     *           answered slowly, if there are many.
     */

    private static final String BEARER = "Bearer ";
    private static final Pattern ADDRESS = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:.%]+]");

    private final Set<String> hosts; // in lower case
    private final byte @Nullable [] token; // its digest
    private final String cookie; // its name: cookies are shared by all ports of a machine
    private final String session = newSession();
    private final WrongTokens wrongTokens = new WrongTokens();

    Guard(Set<String> hosts, @Nullable String token, int port) {
        this.hosts = hosts;
        this.token = token == null ? null : digest(token);
        this.cookie = "raddle-console-" + port;
    }

    private static String newSession() {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    }

    private static byte[] digest(String text) {
        return Page.digest(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Refuses requests under a name that is not one of this console's. */
    void checkHost(Headers request) {
        String host = request.getFirst("Host");
        String name = host == null ? "" : host.toLowerCase(Locale.ROOT).replaceFirst(":\\d+$", "");
        if (!name.equals("localhost") && !ADDRESS.matcher(name).matches() && !hosts.contains(name)) {
            throw new Refusal(403, "the console is not reached by this name; ConsoleOptions.withAllowedHosts adds it");
        }
    }

    /** Refuses requests from the page of another site. */
    void checkSite(Headers request) {
        String host = request.getFirst("Host");
        String site = request.getFirst("Sec-Fetch-Site");
        boolean isOwnSite = site == null || site.equals("same-origin") || site.equals("none");
        String origin = request.getFirst("Origin");
        boolean isOwnOrigin = origin == null || origin.equals("http://" + host) || origin.equals("https://" + host);
        if (!isOwnSite || !isOwnOrigin) {
            throw new Refusal(403, "the console does not answer the pages of other sites");
        }
    }

    void requireToken(Headers request, String who) throws InterruptedException {
        if (token != null && !hasBearer(request) && !hasCookie(request)) {
            if (request.getFirst("Authorization") != null) {
                slowDown(who);
            }
            throw new Refusal(401, "the console needs its token");
        }
    }

    private void slowDown(String who) throws InterruptedException {
        long wait = wrongTokens.count(System.nanoTime(), who);
        if (wait < 0) {
            throw new Refusal(429, "there are too many wrong tokens");
        }
        new CountDownLatch(1).await(wait, TimeUnit.NANOSECONDS);
    }

    /** Refuses to change something for a browser that does not say on whose behalf it asks. */
    void requireOwnOrigin(Headers request) {
        if (request.getFirst("Origin") == null && !hasBearer(request)) {
            throw new Refusal(403, "a request that changes something must have the header Origin, or a bearer token");
        }
    }

    private boolean hasBearer(Headers request) {
        String header = request.getFirst("Authorization");
        return header != null && header.startsWith(BEARER) && isToken(header.substring(BEARER.length()));
    }

    private boolean isToken(String given) {
        return token != null && MessageDigest.isEqual(token, digest(given));
    }

    private boolean hasCookie(Headers request) {
        byte[] expected = digest(cookie + "=" + session);
        for (String header : request.getOrDefault("Cookie", List.of())) {
            for (String each : header.split(";", -1)) {
                if (MessageDigest.isEqual(expected, digest(each.strip()))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the cookie for a client that has sent the token. */
    String login(String given, String who) throws InterruptedException {
        if (!isToken(given)) {
            slowDown(who);
            throw new Refusal(401, token == null ? "the console has no token" : "this is not the token");
        }
        return cookie + "=" + session + "; Path=/; HttpOnly; SameSite=Strict";
    }
}
