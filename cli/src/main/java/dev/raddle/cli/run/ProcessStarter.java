package dev.raddle.cli.run;

import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.file.value.Secrets;
import java.io.File;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Starts the processes of a run. Each is the leader of a new session if possible, and each has a token in its
 * environment that identifies its descendants.
 */
public final class ProcessStarter {
    /** The environment variable with the tokens of all trees to which a process belongs, the innermost last. */
    static final String VARIABLE = "RADDLE_TREE";

    private static final File NOTHING = new File("/dev/null");
    private static final int THREAD_STACK_BYTES = 256 * 1024;
    private static final long IDLE_SECONDS = 1;

    private final String key;
    private final @Nullable Posix posix;
    private final @Nullable String setsid;
    private final Secrets secrets;
    private final AtomicLong serial = new AtomicLong();
    private final Executor waiters = waiters();

    private ProcessStarter(String key, @Nullable Posix posix, @Nullable String setsid, Secrets secrets) {
        this.key = key;
        this.posix = posix;
        this.setsid = setsid;
        this.secrets = secrets;
    }

    /** Creates a starter with the best functions that this system offers. */
    static ProcessStarter of(String key) {
        Posix posix = Posix.get();
        return posix == null ? withoutFunctions(key) : new ProcessStarter(key, posix, null, Secrets.NONE);
    }

    /** Creates a starter that uses no native functions of the operating system. */
    static ProcessStarter withoutFunctions(String key) {
        String setsid = Programs.find("setsid");
        return setsid.contains("/") ? new ProcessStarter(key, null, setsid, Secrets.NONE) : plain(key);
    }

    /** Creates a starter whose processes stay in the session of this process. */
    static ProcessStarter plain(String key) {
        return new ProcessStarter(key, null, null, Secrets.NONE);
    }

    /** Returns this starter for a run with secrets. */
    ProcessStarter hiding(Secrets values) {
        return new ProcessStarter(key, posix, setsid, values);
    }

    /** Returns a text without the secrets of the run. */
    String masked(String text) {
        return secrets.mask(text);
    }

    /** Returns the outputs for one process. */
    MaskedOutputs outputs() {
        return new MaskedOutputs(secrets);
    }

    /** Returns the character set in which the words and variables of a command are passed. */
    public static Charset charset() {
        // In the locale C the operating system's functions are given the text as it is in the file, as by a shell.
        return LocaleText.CHARSET.equals(StandardCharsets.US_ASCII) && Posix.get() != null
                ? StandardCharsets.UTF_8
                : LocaleText.CHARSET;
    }

    @Override
    public String toString() {
        return posix != null ? "posix_spawn" : setsid != null ? "setsid" : "plain";
    }

    /** Returns whether the root of the tree with this token was started as the leader of a session. */
    static boolean leadsSession(String token) {
        return token.contains(".s");
    }

    /** Returns a key that is unique to a run. */
    static String newKey() {
        return UUID.randomUUID().toString().replace("-", "");
    }

    /** Returns a description of the missing functions, for the user; null if nothing is missing. */
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
     * @throws IOException if that is impossible; the message contains the operating system's error number, if there is
     *     one
     */
    ChildProcess start(
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
        List<String> texts = new ArrayList<>(words);
        texts.addAll(all.values());
        if (texts.stream().anyMatch(text -> text.indexOf('\0') >= 0)) {
            throw new IOException("neither its words nor its environment may contain the character NUL");
        }
        LocaleText.check(texts, posix == null ? LocaleText.CHARSET : charset());
        if (posix != null) {
            return spawned(posix, token, words, all, directory, out, err);
        }
        if (texts.stream().anyMatch(LocaleText::hasBytes)) {
            throw new IOException("it has bytes that are no text, which only posix_spawn can pass");
        }
        prepare(out, err);
        return built(token, ownSession, builder(words, all, directory, out, err).start());
    }

    /**
     * Starts a process, which creates its outputs itself and follows no symbolic link at their paths. If that fails the
     * error does not say whether an output was its cause, so the outputs are then created here. The thread that waits
     * for the process begins first, so that no process starts whose end would stay unnoticed.
     */
    private ChildProcess spawned(
            Posix posix,
            String token,
            List<String> words,
            Map<String, String> variables,
            Path directory,
            Posix.Target out,
            Posix.@Nullable Target err)
            throws IOException {
        CompletableFuture<Integer> started = new CompletableFuture<>();
        CompletableFuture<ChildProcess.Exit> exit =
                CompletableFuture.supplyAsync(() -> posix.awaitExit(started.join()), waiters);
        try {
            OutputFiles.checkDirectory(out.path());
            if (err != null) {
                OutputFiles.checkDirectory(err.path());
            }
            int pid = posix.spawn(words, variables, directory, out, err, charset());
            started.complete(pid);
            return new ChildProcess(pid, token, true, true, exit, () -> posix.reap(pid));
        } catch (IOException e) {
            prepare(out, err);
            throw e;
        } finally {
            started.cancel(false); // no effect if it has started
        }
    }

    /** Creates the files, and reports the error if that fails; when a process is started it is hard to identify. */
    private static void prepare(Posix.Target out, Posix.@Nullable Target err) throws IOException {
        OutputFiles.open(out.path(), out.append()).close();
        if (err != null) {
            OutputFiles.open(err.path(), err.append()).close();
        }
    }

    /**
     * Returns the threads that wait for processes: one for each running process, as in the JDK, because there is no
     * other way to wait that neither polls nor reaps children of others. A thread waits for one process after another,
     * and ends when it has been idle.
     */
    private static Executor waiters() {
        ThreadFactory threads = Thread.ofPlatform()
                .name("raddle-wait-", 1)
                .daemon()
                .stackSize(THREAD_STACK_BYTES)
                .factory();
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), threads);
    }

    private static ChildProcess built(String token, boolean ownSession, Process process) {
        CompletableFuture<ChildProcess.Exit> exit =
                process.onExit().thenApply(ended -> new ChildProcess.Exit(ended.exitValue(), null));
        return new ChildProcess(process.pid(), token, ownSession, false, exit, () -> {});
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
            all.addFirst(setsid); // executes the command in place: it leads no process group here
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
