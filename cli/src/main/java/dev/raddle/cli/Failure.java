package dev.raddle.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Says what went wrong with a file: many exceptions of the JDK say no more than its name. */
final class Failure {
    private Failure() {}

    /** What went wrong, with the name of the file where the exception has it. */
    static String text(IOException e) {
        return e instanceof FileSystemException file && file.getFile() != null
                ? file.getFile() + ": " + reason(e)
                : reason(e);
    }

    /** What went wrong, without the name of the file. */
    static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException missing -> "there is no such file or directory";
            case AccessDeniedException denied -> "permission denied";
            case FileAlreadyExistsException exists -> "there is a file of this name";
            case NotDirectoryException file -> "this is no directory";
            case FileSystemException other when other.getReason() != null -> other.getReason();
            default -> e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        };
    }
}
