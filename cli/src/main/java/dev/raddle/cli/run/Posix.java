package dev.raddle.cli.run;

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

    private static final int SIGCHLD = MacOs.HERE ? 20 : 17;
    private static final int EINTR = 4;
    private static final int ENOEXEC = 8;

    /** Larger than any C library's types for spawn attributes and file actions. */
    private static final long OPAQUE = 1024;

    private static final AddressLayout C_POINTER = ValueLayout.ADDRESS;
    private static final ValueLayout.OfInt C_INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfShort C_SHORT = ValueLayout.JAVA_SHORT;

    private final Linker linker = Linker.nativeLinker();
    private final SymbolLookup library = linker.defaultLookup();
    private final VarHandle errno =
            Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private final MethodHandle attrInit = function("posix_spawnattr_init", C_INT, C_POINTER);
    private final MethodHandle attrDestroy = function("posix_spawnattr_destroy", C_INT, C_POINTER);
    private final MethodHandle attrSetFlags = function("posix_spawnattr_setflags", C_INT, C_POINTER, C_SHORT);
    private final MethodHandle attrSetMask = function("posix_spawnattr_setsigmask", C_INT, C_POINTER, C_POINTER);
    private final MethodHandle actionsInit = function("posix_spawn_file_actions_init", C_INT, C_POINTER);
    private final MethodHandle actionsDestroy = function("posix_spawn_file_actions_destroy", C_INT, C_POINTER);
    private final MethodHandle addOpen =
            function("posix_spawn_file_actions_addopen", C_INT, C_POINTER, C_INT, C_POINTER, C_INT, C_INT);
    private final MethodHandle addDup = function("posix_spawn_file_actions_adddup2", C_INT, C_POINTER, C_INT, C_INT);
    private final MethodHandle addChdir = function("posix_spawn_file_actions_addchdir_np", C_INT, C_POINTER, C_POINTER);
    private final @Nullable MethodHandle addCloseFrom =
            MacOs.HERE ? null : function("posix_spawn_file_actions_addclosefrom_np", C_INT, C_POINTER, C_INT);
    private final MethodHandle spawn =
            function("posix_spawnp", C_INT, C_POINTER, C_POINTER, C_POINTER, C_POINTER, C_POINTER, C_POINTER);
    private final MethodHandle describe = function("strerror", C_POINTER, C_INT);
    private final MethodHandle kill = reporting("kill", C_INT, C_INT, C_INT);
    private final MethodHandle waitId = reporting("waitid", C_INT, C_INT, C_INT, C_POINTER, C_INT);
    private final MethodHandle setHandler = function("signal", C_POINTER, C_INT, C_POINTER);
    private final MethodHandle getGroup = function("getpgid", C_INT, C_INT);
    private final MethodHandle getSession = function("getsid", C_INT, C_INT);
    private final MemorySegment environment = environment();
    private volatile List<Variable> inherited = List.of(); // read at the first start

    private Posix() {
        call(() -> setHandler.invoke(SIGCHLD, MemorySegment.NULL)); // if ignored, the exit status of children is lost
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

    private MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return linker.downcallHandle(symbol(name), FunctionDescriptor.of(result, arguments));
    }

    /** Returns a function whose error number is captured. */
    private MethodHandle reporting(String name, MemoryLayout result, MemoryLayout... arguments) {
        return linker.downcallHandle(
                symbol(name), FunctionDescriptor.of(result, arguments), Linker.Option.captureCallState("errno"));
    }

    private MemorySegment symbol(String name) {
        return library.find(name).orElseThrow(() -> new UnsupportedOperationException("the C library has no " + name));
    }

    /** Returns the location of the pointer to this process's environment. */
    private MemorySegment environment() {
        if (MacOs.HERE) {
            MethodHandle find = function("_NSGetEnviron", C_POINTER);
            return ((MemorySegment) call(find::invoke)).reinterpret(C_POINTER.byteSize());
        }
        return symbol("environ").reinterpret(C_POINTER.byteSize());
    }

    /** A call of a function. */
    private interface Call {
        Object run() throws Throwable;
    }

    private static Object call(Call call) {
        try {
            return call.run();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a native call failed", e);
        }
    }

    /** Calls a function that returns its error number. */
    private static void check(Call call) {
        int error = (int) call(call);
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
            check(() -> attrInit.invoke(attributes));
            check(() -> actionsInit.invoke(actions));
            try {
                prepare(arena, attributes);
                open(actions, 0, arena.allocateFrom("/dev/null"), 0);
                open(arena, actions, 1, out, charset);
                if (err == null) {
                    check(() -> addDup.invoke(actions, 1, 2));
                } else {
                    open(arena, actions, 2, err, charset);
                }
                MemorySegment at = arena.allocateFrom(directory.toAbsolutePath().toString(), charset);
                check(() -> addChdir.invoke(actions, at));
                if (addCloseFrom != null) {
                    check(() -> addCloseFrom.invoke(actions, 3));
                }
                return spawn(arena, words, environment(arena, variables, charset), actions, attributes, charset);
            } finally {
                check(() -> actionsDestroy.invoke(actions));
                check(() -> attrDestroy.invoke(attributes));
            }
        }
    }

    private void prepare(Arena arena, MemorySegment attributes) {
        MemorySegment empty = arena.allocate(OPAQUE);
        int flags = Flag.SPAWN_SETSID.value | Flag.SPAWN_SETSIGMASK.value | Flag.SPAWN_CLOEXEC_DEFAULT.value;
        check(() -> attrSetFlags.invoke(attributes, (short) flags));
        check(() -> attrSetMask.invoke(attributes, empty));
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
        check(() -> addOpen.invoke(actions, descriptor, path, flags, 0666));
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
        MemorySegment program = arena.allocateFrom(words.getFirst(), charset);
        MemorySegment arguments = strings(arena, words, charset);
        int error = (int) call(() -> spawn.invoke(pid, program, actions, attributes, arguments, variables));
        if (error == ENOEXEC) {
            // A script without #!, which shells and the JDK execute with sh.
            List<String> script = new ArrayList<>(words);
            script.set(0, Programs.find(words.getFirst()));
            script.addFirst("/bin/sh");
            MemorySegment shell = arena.allocateFrom("/bin/sh");
            MemorySegment shellArguments = strings(arena, script, charset);
            error = (int) call(() -> spawn.invoke(pid, shell, actions, attributes, shellArguments, variables));
        }
        if (error != 0) {
            throw new IOException("error=" + error + ", " + text(error));
        }
        return pid.get(C_INT, 0);
    }

    private String text(int error) {
        MemorySegment text = (MemorySegment) call(() -> describe.invoke(error));
        return text.reinterpret(OPAQUE).getString(0);
    }

    private static MemorySegment strings(Arena arena, List<String> texts, Charset charset) {
        List<MemorySegment> segments = new ArrayList<>();
        texts.forEach(text -> segments.add(arena.allocateFrom(text, charset)));
        return pointers(arena, segments);
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
        variables.forEach((name, value) -> entries.add(arena.allocateFrom(name + "=" + value, charset)));
        return pointers(arena, entries);
    }

    /**
     * Sends a signal to a process or, if the number is negative, to a process group. Does nothing if it does not exist.
     */
    void kill(long to, int signal) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            call(() -> kill.invoke(state, (int) to, signal));
        }
    }

    /** Waits until a child has ended and returns its exit code. Its process id is not reused before {@link #reap}. */
    int awaitExit(int pid) {
        return await(pid, Flag.WAIT_EXITED.value | Flag.WAIT_NO_REAP.value);
    }

    /** Releases the process id of a child that has ended. */
    void reap(int pid) {
        await(pid, Flag.WAIT_EXITED.value);
    }

    private int await(int pid, int options) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            MemorySegment info = arena.allocate(OPAQUE, Long.BYTES);
            while ((int) call(() -> waitId.invoke(state, 1, pid, info, options)) != 0) {
                int error = (int) errno.get(state, 0L);
                if (error != EINTR) {
                    throw new IllegalStateException("the end of process " + pid + " is unknown: error=" + error);
                }
            }
            int how = info.get(C_INT, 8);
            int status = info.get(C_INT, MacOs.HERE ? 20 : 24);
            return how == 1 ? status & 0xff : 0x80 + status;
        }
    }

    /** Returns the process group of a process, or a negative number if there is no such process. */
    int group(long pid) {
        return (int) call(() -> getGroup.invoke((int) pid));
    }

    /** Returns the session of a process, or a negative number if there is no such process. */
    int session(long pid) {
        return (int) call(() -> getSession.invoke((int) pid));
    }
}
