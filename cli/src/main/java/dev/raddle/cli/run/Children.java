package dev.raddle.cli.run;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Starts the processes of a run. Each is the leader of a session of its own, where that can be had, and each has a token in its
 * environment, by which all that it starts can be found again.
 */
public final class Children {
    /** The environment variable with the tokens of all the trees to which a process belongs, the innermost last. */
    static final String VARIABLE = "RADDLE_TREE";

    private static final File NOTHING = new File("/dev/null");
    private static final int THREAD_STACK_BYTES = 256 * 1024;

    private final String key;
    private final @Nullable Posix posix;
    private final @Nullable String setsid;
    private final AtomicLong serial = new AtomicLong();

    private Children(String key, @Nullable Posix posix, @Nullable String setsid) {
        this.key = key;
        this.posix = posix;
        this.setsid = setsid;
    }

    /** The children of a run with the best that this system offers. */
    static Children of(String key) {
        Posix posix = Posix.get();
        return posix == null ? withoutFunctions(key) : new Children(key, posix, null);
    }

    /** The children of a run where functions of the operating system cannot be called. */
    static Children withoutFunctions(String key) {
        String setsid = Programs.find("setsid");
        return setsid.contains("/") ? new Children(key, null, setsid) : plain(key);
    }

    /** Children that stay in the session of this process. */
    static Children plain(String key) {
        return new Children(key, null, null);
    }

    @Override
    public String toString() {
        return posix != null ? "posix_spawn" : setsid != null ? "setsid" : "plain";
    }

    /** Whether the root of the tree with this token was started as the leader of a session. */
    static boolean isOfOwnSession(String token) {
        return token.contains(".s");
    }

    /** A key that no other run has. */
    static String newKey() {
        return UUID.randomUUID().toString().replace("-", "");
    }

    /** What is worse here than it should be, for a person to read; null if nothing is. */
    public static @Nullable String limitation() {
        if (Posix.get() != null) {
            return null;
        }
        String means = Programs.find("setsid").contains("/")
                ? "commands are started by setsid instead"
                : "commands share a session, and one that is ended may leave processes behind";
        return "functions of the operating system cannot be called (" + Posix.problem() + "); " + means;
    }

    /**
     * Starts a process.
     *
     * @throws IOException if that is impossible; the message has the number of the operating system's error, if there is one
     */
    Child start(
            List<String> words,
            Map<String, String> variables,
            Path directory,
            Posix.Target out,
            Posix.@Nullable Target err)
            throws IOException {
        boolean ownSession = posix != null || setsid != null;
        String token = key + (ownSession ? ".s" : ".p") + serial.incrementAndGet();
        String outer = System.getenv(VARIABLE);
        Map<String, String> all = new HashMap<>(variables);
        all.put(VARIABLE, outer == null ? token : outer + " " + token);
        check(words, all);
        prepare(out);
        if (err != null) {
            prepare(err);
        }
        return posix != null
                ? spawned(posix, token, posix.spawn(words, all, directory, out, err, LocaleText.CHARSET))
                : built(
                        token,
                        ownSession,
                        builder(words, all, directory, out, err).start());
    }

    private static void check(List<String> words, Map<String, String> variables) throws IOException {
        boolean nul = words.stream().anyMatch(word -> word.indexOf('\0') >= 0)
                || variables.values().stream().anyMatch(value -> value.indexOf('\0') >= 0);
        if (nul) {
            throw new IOException("neither its words nor its environment may contain the character NUL");
        }
    }

    /** Creates a file, and says what is wrong if that cannot be; at the start of a process that is hard to tell. */
    private static void prepare(Posix.Target target) throws IOException {
        OutputFiles.open(target.path(), target.append()).close();
    }

    private static Child spawned(Posix posix, String token, int pid) {
        CompletableFuture<Integer> exit = new CompletableFuture<>();
        // A thread for each process, as the JDK has it: there is no other way to wait that neither polls nor reaps
        // strangers.
        Thread.ofPlatform()
                .name("raddle-wait-" + pid)
                .daemon()
                .stackSize(THREAD_STACK_BYTES)
                .start(() -> {
                    try {
                        exit.complete(posix.awaitExit(pid));
                    } catch (RuntimeException | Error e) {
                        exit.completeExceptionally(e);
                    }
                });
        return new Child(pid, token, true, exit, () -> posix.reap(pid));
    }

    private static Child built(String token, boolean ownSession, Process process) {
        CompletableFuture<Integer> exit = process.onExit().thenApply(Process::exitValue);
        return new Child(process.pid(), token, ownSession, exit, () -> {});
    }

    private ProcessBuilder builder(
            List<String> words,
            Map<String, String> variables,
            Path directory,
            Posix.Target out,
            Posix.@Nullable Target err)
            throws IOException {
        List<String> all = new ArrayList<>(words);
        if (setsid != null) {
            String program = Programs.find(words.getFirst());
            if (!Files.exists(directory.resolve(program))) {
                throw new IOException("error=2, No such file or directory");
            }
            all.addFirst(setsid); // it becomes the command itself, as it leads no process group here
        }
        ProcessBuilder builder = new ProcessBuilder(all).directory(directory.toFile());
        builder.environment().putAll(variables);
        builder.redirectInput(NOTHING).redirectOutput(redirect(out));
        return err == null ? builder.redirectErrorStream(true) : builder.redirectError(redirect(err));
    }

    private static ProcessBuilder.Redirect redirect(Posix.Target target) {
        File file = target.path().toFile();
        return target.append() ? ProcessBuilder.Redirect.appendTo(file) : ProcessBuilder.Redirect.to(file);
    }
}
