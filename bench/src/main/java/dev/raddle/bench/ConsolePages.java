package dev.raddle.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Pages that look at the groups of a console, in another JVM. They read what they receive, and do nothing with it. */
final class ConsolePages implements AutoCloseable {

    private static final String OPEN = "open";
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    private final Process process;

    /**
     * Opens so many pages, and returns when each has received the groups.
     *
     * @param areApart whether the pages have the {@linkplain #takeOneProcessorFromThisProcess last processor}
     */
    ConsolePages(URI console, int count, boolean areApart) throws IOException {
        List<String> command = new ArrayList<>();
        if (areApart) {
            command.addAll(List.of("taskset", "-c", String.valueOf(PROCESSORS - 1)));
        }
        command.addAll(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                JmhJvms.ownClassPath(),
                ConsolePages.class.getName(),
                String.valueOf(console.getPort()),
                String.valueOf(count)));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader said = process.inputReader(US_ASCII);
        String line = said.readLine();
        if (!OPEN.equals(line)) {
            process.destroyForcibly();
            throw new IOException(count + " pages of " + console + " could not be opened: " + line);
        }
    }

    /**
     * Leaves the last processor to the pages.
     *
     * @return whether this process has others, and the system can do that
     */
    static boolean takeOneProcessorFromThisProcess() throws InterruptedException {
        if (PROCESSORS < 2) {
            return false;
        }
        String others = "0-" + (PROCESSORS - 2);
        String pid = String.valueOf(ProcessHandle.current().pid());
        try {
            Process taskset = new ProcessBuilder("taskset", "-a", "-p", "-c", others, pid)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectErrorStream(true)
                    .start();
            return taskset.waitFor() == 0;
        } catch (IOException missing) {
            return false;
        }
    }

    /** Closes the pages. */
    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /**
     * Opens pages, and reads until the process that started this one ends it or has ended itself.
     *
     * @param args the port and the number of pages
     * @throws IOException if the console does not answer
     */
    public static void main(String[] args) throws IOException {
        Thread.ofPlatform().daemon().start(() -> {
            ProcessHandle.current().parent().ifPresent(parent -> parent.onExit().join());
            Runtime.getRuntime().halt(1);
        });
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        byte[] request = ("GET /api/stream?view=groups&sort=oldest&size=50 HTTP/1.1\r\nHost: localhost:" + args[0]
                        + "\r\nAccept: text/event-stream\r\n\r\n")
                .getBytes(US_ASCII);
        int count = Integer.parseInt(args[1]);
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < count; i++) {
                SocketChannel page = SocketChannel.open(address);
                page.write(ByteBuffer.wrap(request));
                page.configureBlocking(false);
                page.register(selector, SelectionKey.OP_READ);
            }
            read(selector, count);
        }
    }

    private static void read(Selector selector, int count) throws IOException {
        Set<SelectionKey> open = new HashSet<>();
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
        while (true) {
            selector.select();
            for (SelectionKey key : List.copyOf(selector.selectedKeys())) {
                int read = ((SocketChannel) key.channel()).read(buffer.clear());
                if (read < 0) {
                    throw new IOException("the console has closed a page");
                }
                boolean isStream = open.contains(key) || read > 1_000; // more than a refusal
                if (isStream && open.add(key) && open.size() == count) {
                    System.out.println(OPEN);
                }
            }
            selector.selectedKeys().clear();
        }
    }
}
