package dev.raddle.cli.file.value;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Describes exceptions for people: many exceptions of the JDK have only the name of a file as message, or none. */
public final class Failure {
    /** The reason why the operating system starts no further process or thread, and the advice. */
    public static final String TOO_MANY = "the limit of processes and threads is reached; run fewer tasks at once, or"
            + " raise it (ulimit -u, or pids.max of a container)";

    private Failure() {}

    /** Returns a description of the exception, with the name of the file if it has one, and without class names. */
    public static String text(@Nullable Throwable e) {
        if (e == null) {
            return "unknown";
        }
        if (e instanceof IOException io) {
            return io instanceof FileSystemException file && file.getFile() != null
                    ? file.getFile() + ": " + reason(io)
                    : reason(io);
        }
        String message = e.getMessage();
        if (e instanceof OutOfMemoryError && message != null && message.contains("native thread")) {
            return TOO_MANY;
        }
        Throwable cause = e.getCause();
        if (cause != null && (message == null || message.equals(cause.toString()))) {
            return text(cause);
        }
        return message == null || message.isBlank() ? words(e) : message;
    }

    /** Returns the name of an exception in words, where nothing else is known: {@code null pointer exception}. */
    private static String words(Throwable e) {
        String name = e.getClass().getSimpleName();
        return name.isEmpty()
                ? "unknown"
                : name.replaceAll("(?<=[a-z])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    }

    /** Returns a description of the exception without the name of the file. */
    public static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException missing -> "there is no such file or directory";
            case AccessDeniedException denied -> "permission denied";
            case FileAlreadyExistsException exists -> "a file of this name exists";
            case NotDirectoryException file -> "this is not a directory";
            case DirectoryNotEmptyException full -> "the directory is not empty";
            case FileSystemException other -> other.getReason() == null ? words(other) : other.getReason();
            default -> e.getMessage() == null ? words(e) : e.getMessage();
        };
    }
}
