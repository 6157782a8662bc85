package dev.raddle.cli;

import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.Passwords;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.RunDirectory;
import dev.raddle.cli.run.StandardStreams;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command of raddle, with the options for help and the version. */
@Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
abstract class Subcommand implements Callable<Integer> {
    @Spec
    CommandSpec spec = CommandSpec.create(); // set by picocli

    /** Prints a text on standard output, and returns the exit code of a success. */
    static int print(CommandSpec spec, String text) {
        PrintWriter out = spec.commandLine().getOut();
        out.print(text);
        out.flush();
        return ExitCode.OK;
    }

    /** Returns an argument for a message, without the value of NAME=VALUE, which may be a secret. */
    static String shown(String argument) {
        int end = argument.indexOf('=');
        return Printable.oneLine(end > 0 ? argument.substring(0, end + 1) + "…" : Passwords.hidden(argument));
    }

    /** Creates the run directory that the user named, or else a fresh one. */
    RunDirectory created(@Nullable Path results, String name) {
        try {
            return results == null ? RunDirectory.createFresh(name, Instant.now()) : RunDirectory.create(results);
        } catch (FileAlreadyExistsException e) {
            throw wrong("--results must name a directory that contains no run yet, was \"" + results
                    + "\"; name another, or continue raddle run in it with --resume");
        } catch (NotDirectoryException e) {
            throw wrong("--results must name a directory, was \"" + results + "\", a file; name another");
        } catch (DirectoryNotEmptyException e) {
            throw wrong("--results must name a directory that is new or empty, was \"" + results
                    + "\", which contains other files; name another");
        } catch (IOException e) {
            throw wrong("the run directory cannot be created, " + Failure.text(e));
        }
    }

    /** Returns the exception for a path that is not a run directory, because it has no such file. */
    ParameterException noRun(String argument, Path path, @Nullable String file, String advice) {
        String why = !Files.exists(path)
                ? "\" does not exist"
                : Files.isDirectory(path) ? "\" has no " + file + advice : "\" is a file";
        return wrong(argument + " must name a run directory, such as raddle-runs/NAME-TIME; \"" + path + why);
    }

    /** Says what is read if standard input is a terminal, at which nothing else shows that input is awaited. */
    static void warnOfTerminal(CommandLine commandLine, String what) {
        if (StandardStreams.isTerminal(0).orElse(false)) {
            commandLine.getErr().println("raddle: reading " + what + " from the terminal; Ctrl-D ends the input");
        }
    }

    /** Returns the exception for wrong arguments. */
    ParameterException wrong(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
