package dev.raddle.spring;

import dev.raddle.console.Console;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.servlet.HandlerMapping;

/**
 * The endpoint {@code raddleconsole} of Actuator: the console at the path of the endpoint. Operations can neither read
 * nor write headers, so {@link ConsolePathConfiguration} maps the path to {@link #handleRequest}.
 */
@WebEndpoint(id = "raddleconsole")
final class ConsoleEndpoint extends ShutdownStep implements HttpRequestHandler {

    static final EndpointId ID = EndpointId.of("raddleconsole");

    private final Console console;
    private final Access access;

    ConsoleEndpoint(Console console, Access access) {
        super(DEFAULT_PHASE);
        this.console = console;
        this.access = access;
    }

    /** Makes the endpoint have a link. Returns the console's own address, for servers where the path is not mapped. */
    @ReadOperation
    String address() {
        return console.uri().toString();
    }

    @Override
    public void handleRequest(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!isRunning()) {
            refuse(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, "the application starts or shuts down");
            return;
        }
        URI uri;
        try {
            String query = request.getQueryString();
            uri = URI.create("/" + request.getAttribute(HandlerMapping.PATH_WITHIN_HANDLER_MAPPING_ATTRIBUTE)
                    + (query == null ? "" : "?" + query));
        } catch (IllegalArgumentException wrong) {
            refuse(response, HttpServletResponse.SC_BAD_REQUEST, "the address is not a URI");
            return;
        }
        String path = String.valueOf(uri.getPath()); // decoded, as the console compares it
        String asked = request.getRequestURI();
        if (path.equals("/") && !asked.endsWith("/")) {
            response.setStatus(HttpServletResponse.SC_FOUND); // the addresses in the page are relative to a folder
            response.setHeader("Location", asked.substring(asked.lastIndexOf('/') + 1) + "/");
        } else if (path.equals("/api/control") && access != Access.UNRESTRICTED) {
            refuse(response, HttpServletResponse.SC_FORBIDDEN, "the access to the endpoint is read-only");
        } else {
            console.answer(new ServletExchange(request, response, uri, this::isRunning));
        }
    }

    /** Sends a problem in the format of the console. */
    private static void refuse(HttpServletResponse response, int status, String sentence) throws IOException {
        response.setStatus(status);
        response.setContentType("application/json");
        response.getOutputStream().write(("{\"problem\": \"" + sentence + "\"}").getBytes(StandardCharsets.UTF_8));
    }

    /** The streams end, for which a graceful shutdown of the web server would wait. */
    @Override
    void end() {}
}
