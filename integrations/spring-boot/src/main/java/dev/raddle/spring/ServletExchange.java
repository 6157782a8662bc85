package dev.raddle.spring;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpPrincipal;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.Principal;
import java.util.Collections;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A request to a servlet, as the console reads and answers it. Writes fail when they are not allowed any more. */
final class ServletExchange extends HttpExchange {

    private final HttpServletRequest request;
    private final HttpServletResponse response;
    private final URI uri; // below the path of the console
    private final InputStream in;
    private final OutputStream out;
    private final Headers requestHeaders = new Headers();
    private final Headers responseHeaders = new Headers();

    ServletExchange(HttpServletRequest request, HttpServletResponse response, URI uri, BooleanSupplier mayWrite)
            throws IOException {
        this.request = request;
        this.response = response;
        this.uri = uri;
        this.in = request.getInputStream();
        this.out = new FilterOutputStream(response.getOutputStream()) {
            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                if (!mayWrite.getAsBoolean()) {
                    throw new IOException("the application shuts down");
                }
                out.write(bytes, from, length);
            }
        };
        for (String name : Collections.list(request.getHeaderNames())) {
            requestHeaders.put(name, Collections.list(request.getHeaders(name)));
        }
    }

    @Override
    public String getRequestMethod() {
        return request.getMethod();
    }

    @Override
    public URI getRequestURI() {
        return uri;
    }

    @Override
    public String getProtocol() {
        return request.getProtocol();
    }

    @Override
    public Headers getRequestHeaders() {
        return requestHeaders;
    }

    @Override
    public InputStream getRequestBody() {
        return in;
    }

    @Override
    public InetSocketAddress getRemoteAddress() {
        return new InetSocketAddress(request.getRemoteAddr(), request.getRemotePort());
    }

    @Override
    public InetSocketAddress getLocalAddress() {
        return new InetSocketAddress(request.getLocalAddr(), request.getLocalPort());
    }

    @Override
    public @Nullable HttpPrincipal getPrincipal() {
        Principal user = request.getUserPrincipal();
        return user == null ? null : new HttpPrincipal(user.getName(), "");
    }

    @Override
    public @Nullable Object getAttribute(String name) {
        return request.getAttribute(name);
    }

    @Override
    public void setAttribute(String name, @Nullable Object value) {
        request.setAttribute(name, value);
    }

    @Override
    public Headers getResponseHeaders() {
        return responseHeaders;
    }

    /** Prepares the head of the response, which is sent with the first bytes. A length of 0 is that of a stream. */
    @Override
    public void sendResponseHeaders(int status, long length) {
        response.setStatus(status);
        responseHeaders.forEach((name, values) -> values.forEach(value -> response.addHeader(name, value)));
        if (length > 0) {
            response.setContentLengthLong(length);
        }
    }

    @Override
    public int getResponseCode() {
        return response.isCommitted() ? response.getStatus() : -1;
    }

    @Override
    public OutputStream getResponseBody() {
        return out;
    }

    /** Does nothing: the server ends the request when its thread returns. */
    @Override
    public void close() {}

    @Override
    public HttpContext getHttpContext() {
        throw new UnsupportedOperationException("a servlet has no HttpContext");
    }

    @Override
    public void setStreams(InputStream newIn, OutputStream newOut) {
        throw new UnsupportedOperationException("the streams are those of the servlet");
    }
}
