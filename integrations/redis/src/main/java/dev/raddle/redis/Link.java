package dev.raddle.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.async.RedisFunctionAsyncCommands;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A connection for calls of the script and one for messages. Used until either fails. */
final class Link {

    /*
     * A call of a function that the server does not know loads the library and is repeated, and so is a call of an
     * unknown script: the server has executed nothing then. A server without functions, or a user who may not load
     * them, is asked by EVALSHA.
     */

    private final StatefulConnection<String, String> calls;
    private final StatefulConnection<String, String> messages;
    private final RedisScriptingAsyncCommands<String, String> scripting;
    private final ServerScript script;
    private final String[] keys;
    private final String publish;
    private volatile boolean isLive = true;
    private volatile @Nullable RedisFunctionAsyncCommands<String, String> functions; // null: use EVALSHA

    Link(
            StatefulConnection<String, String> calls,
            StatefulConnection<String, String> messages,
            RedisScriptingAsyncCommands<String, String> scripting,
            @Nullable RedisFunctionAsyncCommands<String, String> functions,
            ServerScript script,
            String[] keys,
            String publish) {
        this.calls = calls;
        this.messages = messages;
        this.scripting = scripting;
        this.functions = functions;
        this.script = script;
        this.keys = keys;
        this.publish = publish;
    }

    /** Returns the command by which this instance receives messages. */
    String publish() {
        return publish;
    }

    /** Returns false if a connection is known to be lost. */
    boolean isConnected() {
        return isLive && calls.isOpen() && messages.isOpen();
    }

    /** Notes that a connection was lost. */
    void lost() {
        isLive = false;
    }

    CompletionStage<List<Object>> call(ServerScript.Function function, String... args) {
        RedisFunctionAsyncCommands<String, String> known = functions;
        return known == null ? eval(function, args) : fcall(known, function, args);
    }

    private CompletionStage<List<Object>> fcall(
            RedisFunctionAsyncCommands<String, String> known, ServerScript.Function function, String[] args) {
        String name = script.functionName(function);
        CompletionStage<List<Object>> first = known.fcall(name, ScriptOutputType.MULTI, keys, args);
        return first.exceptionallyCompose(failure -> {
            String message = messageOf(failure);
            if (message.contains("function not found")) {
                return known.functionLoad(script.libraryText)
                        .handle((loaded, problem) -> problem)
                        .thenCompose(problem -> isUnavailable(messageOf(problem))
                                ? withoutFunctions(function, args)
                                : known.fcall(name, ScriptOutputType.MULTI, keys, args));
            }
            return isUnavailable(message) ? withoutFunctions(function, args) : failed(failure);
        });
    }

    private CompletionStage<List<Object>> withoutFunctions(ServerScript.Function function, String[] args) {
        functions = null;
        return eval(function, args);
    }

    private static boolean isUnavailable(String message) {
        return message.contains("unknown command") || message.startsWith("noperm");
    }

    private CompletionStage<List<Object>> eval(ServerScript.Function function, String[] args) {
        String[] all =
                Stream.concat(Stream.of(function.suffix()), Stream.of(args)).toArray(String[]::new);
        CompletionStage<List<Object>> first = scripting.evalsha(script.evalSha, ScriptOutputType.MULTI, keys, all);
        return first.exceptionallyCompose(failure -> failure instanceof RedisNoScriptException
                ? scripting.eval(script.evalText, ScriptOutputType.MULTI, keys, all)
                : failed(failure));
    }

    private static CompletionStage<List<Object>> failed(Throwable failure) {
        return CompletableFuture.failedFuture(failure);
    }

    private static String messageOf(@Nullable Throwable failure) {
        return failure instanceof RedisCommandExecutionException && failure.getMessage() != null
                ? failure.getMessage().toLowerCase(Locale.ROOT)
                : "";
    }

    /** Closes both connections. Calls without an answer fail. */
    CompletableFuture<Void> close() {
        isLive = false;
        return CompletableFuture.allOf(calls.closeAsync(), messages.closeAsync());
    }
}
