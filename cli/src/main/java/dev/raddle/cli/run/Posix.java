package dev.raddle.cli.run;

import dev.raddle.cli.file.value.LocaleText;
import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Functions of the operating system without an API in the JDK: starting a process in a new session, signals to process
 * groups, and waiting for a child without releasing its process id. Loaded when the first command is started.
 */
@SuppressWarnings("restricted") // calls functions of the C library
final class Posix {
    static final int SIGKILL = 9;
    static final int SIGTERM = 15;
    static final int SIGCONT = MacOs.HERE ? 19 : 18;
    static final int SIGTSTP = MacOs.HERE ? 18 : 20;

    private static final int SIGCHLD = MacOs.HERE ? 20 : 17;
    private static final int EINTR = 4;
    private static final int ENOEXEC = 8;
    private static final int EBADF = 9;
    private static final int EPIPE = 32;

    /** Larger than any C library's types for spawn attributes and file actions. */
    private static final long OPAQUE = 1024;

    private static final AddressLayout C_POINTER = ValueLayout.ADDRESS;
    private static final ValueLayout.OfInt C_INT = ValueLayout.JAVA_INT;

    /*
     * The arguments and the result of every function here are integers or pointers, at most six, and so each is in a
     * register. All functions are called with six registers: an int is the lower half of one, and a function does not
     * read those that it has no argument for. So one descriptor serves all of them, and one that captures the error
     * number. The linker generates code for each descriptor, and a descriptor for each function would take as long as
     * the rest of a short run.
     */
    private static final int REGISTERS = 6;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final FunctionDescriptor IN_REGISTERS = inRegisters();
    private static final MethodHandle CALL = LINKER.downcallHandle(IN_REGISTERS);
    private static final MethodHandle REPORTING_CALL =
            LINKER.downcallHandle(IN_REGISTERS, Linker.Option.captureCallState("errno"));
    private static final VarHandle ERRNO =
            Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private final SymbolLookup library = LINKER.defaultLookup();
    private final MemorySegment attrInit = symbol("posix_spawnattr_init");
    private final MemorySegment attrDestroy = symbol("posix_spawnattr_destroy");
    private final MemorySegment attrSetFlags = symbol("posix_spawnattr_setflags");
    private final MemorySegment attrSetMask = symbol("posix_spawnattr_setsigmask");
    private final MemorySegment actionsInit = symbol("posix_spawn_file_actions_init");
    private final MemorySegment actionsDestroy = symbol("posix_spawn_file_actions_destroy");
    private final MemorySegment addOpen = symbol("posix_spawn_file_actions_addopen");
    private final MemorySegment addDup = symbol("posix_spawn_file_actions_adddup2");
    private final MemorySegment addChdir = symbol("posix_spawn_file_actions_addchdir_np");
    private final @Nullable MemorySegment addCloseFrom =
            MacOs.HERE ? null : symbol("posix_spawn_file_actions_addclosefrom_np");
    private final MemorySegment spawn = symbol("posix_spawnp");
    private final MemorySegment describe = symbol("strerror");
    private final MemorySegment kill = symbol("kill");
    private final MemorySegment makePipe = symbol("mkfifo");
    private final MemorySegment waitId = symbol("waitid");
    private final MemorySegment getUsage = symbol("getrusage");
    private final MemorySegment systemCall = symbol("syscall");
    private final long systemWaitId = systemWaitId(); // which also returns what the process has used; 0 if unknown
    private final MemorySegment setHandler = symbol("signal");
    private final MemorySegment raise = symbol("raise");
    private final MemorySegment getGroup = symbol("getpgid");
    private final MemorySegment getSession = symbol("getsid");
    private final MemorySegment isTerminal = symbol("isatty");
    private final MemorySegment environment = environment();
    private volatile List<Variable> inherited = List.of(); // read at the first start

    private Posix() {
        call(setHandler, SIGCHLD, 0); // if ignored, the exit status of children is lost
    }

    /** The differences on macOS. */
    private static final class MacOs {
        static final boolean HERE = System.getProperty("os.name", "").startsWith("Mac");
    }

    /** The constants of the C headers. */
    private enum Flag {
        SPAWN_SETSIGMASK(0x08, 0x08),
        SPAWN_SETSID(0x80, 0x400),
        SPAWN_CLOEXEC_DEFAULT(0, 0x4000),
        WRITE_ONLY(1, 1),
        CREATE(0100, 0x200),
        TRUNCATE(01000, 0x400),
        APPEND(02000, 8),
        NO_FOLLOW(isArm() ? 0100000 : 0400000, 0x100),
        WAIT_EXITED(4, 4),
        WAIT_NO_REAP(0x01000000, 0x20);

        private final int value;

        Flag(int linux, int mac) {
            value = MacOs.HERE ? mac : linux;
        }

        private static boolean isArm() {
            return System.getProperty("os.arch", "").startsWith("aa");
        }
    }

    /** Returns Linux's number of this call: the function of the C library leaves out its last argument. */
    private static long systemWaitId() {
        return switch (MacOs.HERE ? "" : System.getProperty("os.arch", "")) {
            case "amd64" -> 247;
            case "aarch64" -> 95;
            default -> 0;
        };
    }

    /** Loads the functions once. */
    private static final class Holder {
        static final @Nullable Posix POSIX;
        static final String PROBLEM;

        static {
            Posix posix = null;
            String problem = "";
            try {
                posix = new Posix();
            } catch (RuntimeException | LinkageError e) {
                problem = String.valueOf(e.getMessage());
            }
            POSIX = posix;
            PROBLEM = problem;
        }
    }

    /** Returns the functions, or null if they cannot be called. */
    static @Nullable Posix get() {
        return Holder.POSIX;
    }

    /** Returns why the functions cannot be called, or an empty text. */
    static String problem() {
        return Holder.PROBLEM;
    }

    private static FunctionDescriptor inRegisters() {
        MemoryLayout[] registers = new MemoryLayout[REGISTERS];
        Arrays.fill(registers, ValueLayout.JAVA_LONG);
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG, registers);
    }

    private MemorySegment symbol(String name) {
        return library.find(name).orElseThrow(() -> new UnsupportedOperationException("the C library has no " + name));
    }

    /** Returns the location of the pointer to this process's environment. */
    private MemorySegment environment() {
        if (MacOs.HERE) {
            return MemorySegment.ofAddress(call(symbol("_NSGetEnviron"))).reinterpret(C_POINTER.byteSize());
        }
        return symbol("environ").reinterpret(C_POINTER.byteSize());
    }

    /** Calls a function. Only the lower half of the result is defined if the function returns an int. */
    private static long call(MemorySegment function, long... arguments) {
        long[] a = Arrays.copyOf(arguments, REGISTERS);
        try {
            return (long) CALL.invokeExact(function, a[0], a[1], a[2], a[3], a[4], a[5]);
        } catch (Throwable e) {
            throw failed(e);
        }
    }

    /** Calls a function that returns 0 or sets the error number, and returns the error number or 0. */
    private static int errorOf(Arena arena, MemorySegment function, long... arguments) {
        long[] a = Arrays.copyOf(arguments, REGISTERS);
        MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
        try {
            long result = (long) REPORTING_CALL.invokeExact(function, state, a[0], a[1], a[2], a[3], a[4], a[5]);
            return (int) result == 0 ? 0 : (int) ERRNO.get(state, 0L);
        } catch (Throwable e) {
            throw failed(e);
        }
    }

    private static RuntimeException failed(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof RuntimeException runtime ? runtime : new IllegalStateException("a native call failed", e);
    }

    /** Calls a function that returns its error number. */
    private static void check(MemorySegment function, long... arguments) {
        int error = (int) call(function, arguments);
        if (error != 0) {
            throw new IllegalStateException("preparing the start of a process failed: error=" + error);
        }
    }

    /**
     * The file for the output of a process.
     *
     * @param append true to append to the file, false to replace it
     */
    record Target(Path path, boolean append) {}

    /**
     * Starts a process as the leader of a new session, and so of a new process group. It has no controlling terminal,
     * an empty standard input, and inherits only its two outputs. A symbolic link at the end of an output's path is not
     * followed.
     *
     * @param variables the environment variables to set; the others are inherited
     * @param err the file for standard error, or null if it goes to the same file as standard output
     * @return the process id
     * @throws IOException if the process cannot be started; the message contains the error number
     */
    int spawn(
            List<String> words,
            Map<String, String> variables,
            Path directory,
            Target out,
            @Nullable Target err,
            Charset charset)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(OPAQUE);
            MemorySegment actions = arena.allocate(OPAQUE);
            check(attrInit, attributes.address());
            check(actionsInit, actions.address());
            try {
                prepare(arena, attributes);
                open(actions, 0, arena.allocateFrom("/dev/null"), 0);
                open(arena, actions, 1, out, charset);
                if (err == null) {
                    check(addDup, actions.address(), 1, 2);
                } else {
                    open(arena, actions, 2, err, charset);
                }
                MemorySegment at = arena.allocateFrom(directory.toAbsolutePath().toString(), charset);
                check(addChdir, actions.address(), at.address());
                if (addCloseFrom != null) {
                    check(addCloseFrom, actions.address(), 3);
                }
                return spawn(arena, words, environment(arena, variables, charset), actions, attributes, charset);
            } finally {
                check(actionsDestroy, actions.address());
                check(attrDestroy, attributes.address());
            }
        }
    }

    private void prepare(Arena arena, MemorySegment attributes) {
        MemorySegment empty = arena.allocate(OPAQUE);
        int flags = Flag.SPAWN_SETSID.value | Flag.SPAWN_SETSIGMASK.value | Flag.SPAWN_CLOEXEC_DEFAULT.value;
        check(attrSetFlags, attributes.address(), flags);
        check(attrSetMask, attributes.address(), empty.address());
    }

    private void open(Arena arena, MemorySegment actions, int descriptor, Target target, Charset charset) {
        int flags = Flag.WRITE_ONLY.value
                | Flag.CREATE.value
                | Flag.NO_FOLLOW.value
                | (target.append ? Flag.APPEND.value : Flag.TRUNCATE.value);
        MemorySegment path = arena.allocateFrom(target.path.toAbsolutePath().toString(), charset);
        open(actions, descriptor, path, flags);
    }

    private void open(MemorySegment actions, int descriptor, MemorySegment path, int flags) {
        check(addOpen, actions.address(), descriptor, path.address(), flags, 0666);
    }

    private int spawn(
            Arena arena,
            List<String> words,
            MemorySegment variables,
            MemorySegment actions,
            MemorySegment attributes,
            Charset charset)
            throws IOException {
        MemorySegment pid = arena.allocate(C_INT);
        MemorySegment program = string(arena, words.getFirst(), charset);
        MemorySegment arguments = strings(arena, words, charset);
        int error = spawn(pid, program, actions, attributes, arguments, variables);
        if (error == ENOEXEC) {
            // A script without #!, which shells and the JDK execute with sh.
            List<String> script = new ArrayList<>(words);
            script.set(0, Programs.find(words.getFirst()));
            script.addFirst("/bin/sh");
            MemorySegment shell = arena.allocateFrom("/bin/sh");
            error = spawn(pid, shell, actions, attributes, strings(arena, script, charset), variables);
        }
        if (error != 0) {
            throw new IOException("error=" + error + ", " + text(error));
        }
        return pid.get(C_INT, 0);
    }

    private int spawn(
            MemorySegment pid,
            MemorySegment program,
            MemorySegment actions,
            MemorySegment attributes,
            MemorySegment arguments,
            MemorySegment variables) {
        return (int) call(
                spawn,
                pid.address(),
                program.address(),
                actions.address(),
                attributes.address(),
                arguments.address(),
                variables.address());
    }

    /** Returns whether a message is that of a pipe without a reader, or of a closed file. */
    boolean isClosed(String message) {
        return message.equals(text(EPIPE)) || message.equals(text(EBADF));
    }

    private String text(int error) {
        MemorySegment text = MemorySegment.ofAddress(call(describe, error));
        return text.reinterpret(OPAQUE).getString(0);
    }

    private static MemorySegment strings(Arena arena, List<String> texts, Charset charset) {
        List<MemorySegment> segments = new ArrayList<>();
        texts.forEach(text -> segments.add(string(arena, text, charset)));
        return pointers(arena, segments);
    }

    private static MemorySegment string(Arena arena, String text, Charset charset) {
        byte[] bytes = LocaleText.bytes(text, charset);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, Arrays.copyOf(bytes, bytes.length + 1));
    }

    private static MemorySegment pointers(Arena arena, List<MemorySegment> segments) {
        MemorySegment array = arena.allocate(C_POINTER, segments.size() + 1L);
        for (int i = 0; i < segments.size(); i++) {
            array.setAtIndex(C_POINTER, i, segments.get(i));
        }
        return array;
    }

    /** A variable of this process's environment: its name, and the text with its value, which never changes. */
    private record Variable(String name, MemorySegment entry) {}

    private List<Variable> inherited(Charset charset) {
        List<Variable> known = inherited;
        if (known.isEmpty()) {
            known = readEnvironment(charset);
            inherited = known;
        }
        return known;
    }

    private List<Variable> readEnvironment(Charset charset) {
        List<Variable> variables = new ArrayList<>();
        MemorySegment entries = environment.get(C_POINTER, 0).reinterpret(Long.MAX_VALUE);
        for (long i = 0; ; i++) {
            MemorySegment entry = entries.getAtIndex(C_POINTER, i);
            if (entry.address() == 0) {
                return variables;
            }
            String text = entry.reinterpret(Long.MAX_VALUE).getString(0, StandardCharsets.ISO_8859_1);
            int end = text.indexOf('=', 1);
            String name = text.substring(0, end < 0 ? text.length() : end);
            variables.add(new Variable(
                    new String(name.getBytes(StandardCharsets.ISO_8859_1), charset),
                    Arena.global().allocateFrom(text, StandardCharsets.ISO_8859_1)));
        }
    }

    /** Returns this process's environment, unchanged byte by byte, with some variables set. */
    private MemorySegment environment(Arena arena, Map<String, String> variables, Charset charset) {
        List<MemorySegment> entries = new ArrayList<>();
        for (Variable variable : inherited(charset)) {
            if (!variables.containsKey(variable.name)) {
                entries.add(variable.entry);
            }
        }
        variables.forEach((name, value) -> entries.add(string(arena, name + "=" + value, charset)));
        return pointers(arena, entries);
    }

    /**
     * Sends a signal to a process or, if the number is negative, to a process group. Does nothing if it does not exist.
     */
    void kill(long to, int signal) {
        try (Arena arena = Arena.ofConfined()) {
            errorOf(arena, kill, to, signal);
        }
    }

    /** Does to this process what a signal does by default: stops it until SIGCONT, or ends it. */
    void takeDefault(int signal) {
        call(setHandler, signal, 0);
        call(raise, signal); // to this thread, so that it does not go on before
    }

    /** Creates a pipe with a name, which only its user may open. */
    void createPipe(Path path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path.toString(), ProcessStarter.charset());
            int error = errorOf(arena, makePipe, name.address(), 0600);
            if (error != 0) {
                throw new IOException("error=" + error + ", " + text(error));
            }
        }
    }

    /** Waits until a child has ended. Its process id is not reused before {@link #reap}. */
    ChildProcess.Exit awaitExit(int pid) {
        return await(pid, Flag.WAIT_EXITED.value | Flag.WAIT_NO_REAP.value);
    }

    /** Releases the process id of a child that has ended. */
    void reap(int pid) {
        await(pid, Flag.WAIT_EXITED.value);
    }

    private ChildProcess.Exit await(int pid, int options) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(OPAQUE, Long.BYTES);
            MemorySegment usage = arena.allocate(OPAQUE, Long.BYTES);
            int error = EINTR;
            while (error == EINTR) {
                error = systemWaitId == 0
                        ? errorOf(arena, waitId, 1, pid, info.address(), options)
                        : errorOf(arena, systemCall, systemWaitId, 1, pid, info.address(), options, usage.address());
            }
            if (error != 0) {
                throw new IllegalStateException("the end of process " + pid + " is unknown: error=" + error);
            }
            int how = info.get(C_INT, 8);
            int status = info.get(C_INT, MacOs.HERE ? 20 : 24);
            int code = how == 1 ? status & 0xff : 0x80 + status;
            return new ChildProcess.Exit(code, systemWaitId == 0 ? null : usage(arena, usage));
        }
    }

    /** Reads Linux's struct rusage: two times of seconds and microseconds, then a size in KiB. */
    private Usage usage(Arena arena, MemorySegment usage) {
        long seconds = usage.getAtIndex(ValueLayout.JAVA_LONG, 0) + usage.getAtIndex(ValueLayout.JAVA_LONG, 2);
        long micros = usage.getAtIndex(ValueLayout.JAVA_LONG, 1) + usage.getAtIndex(ValueLayout.JAVA_LONG, 3);
        // A process that was started without a copy of this one's memory counts the peak of this one as its own.
        MemorySegment own = arena.allocate(OPAQUE, Long.BYTES);
        call(getUsage, 0, own.address());
        long peak = usage.getAtIndex(ValueLayout.JAVA_LONG, 4);
        boolean isOfProcess = peak > own.getAtIndex(ValueLayout.JAVA_LONG, 4);
        return new Usage(seconds * 1_000 + micros / 1_000, isOfProcess ? peak * 1_024 : 0);
    }

    /** Returns the process group of a process, or a negative number if there is no such process. */
    int group(long pid) {
        return (int) call(getGroup, pid);
    }

    /** Returns the session of a process, or a negative number if there is no such process. */
    int session(long pid) {
        return (int) call(getSession, pid);
    }

    /** Returns whether a file descriptor is a terminal. */
    boolean isTerminal(int descriptor) {
        return (int) call(isTerminal, descriptor) == 1;
    }
}
