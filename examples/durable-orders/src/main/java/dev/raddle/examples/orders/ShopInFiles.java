package dev.raddle.examples.orders;

import dev.raddle.flow.NodeContext;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * A stock and a bank as empty files in a directory, one for each change, such as {@code charged-7}.
 *
 * @param directory the directory, which all processes share
 */
record ShopInFiles(Path directory) implements Shop {

    private static final int BOOKS = 100;

    @Override
    public void reserve(NodeContext<String> node) throws IOException {
        mark("reserved-" + node.param());
    }

    @Override
    public void free(String order) throws IOException {
        mark("freed-" + order);
    }

    @Override
    public void charge(String order) throws IOException {
        mark("charged-" + order);
    }

    @Override
    public void refund(String order) throws IOException {
        mark("refunded-" + order);
    }

    private void mark(String change) throws IOException {
        try {
            Files.createFile(directory.resolve(change));
        } catch (FileAlreadyExistsException done) {
            // by an earlier call, whose end was not recorded
        }
    }

    private long count(String change) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().startsWith(change))
                    .count();
        }
    }

    String summary() throws IOException {
        return "charged: " + count("charged-") + ", refunded: " + count("refunded-") + ", in stock: "
                + (BOOKS - count("reserved-") + count("freed-"));
    }

    void delete() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }
}
