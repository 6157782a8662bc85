package dev.raddle.scope;

/** Started in a JVM of its own: prints what starts the threads of a scope, and what a subtask sees there. */
final class ContainerProbe {

    private static final ScopedValue<String> NAME = ScopedValue.newInstance();

    private ContainerProbe() {}

    public static void main(String[] arguments) throws Exception {
        ScopedValue.where(NAME, "inherited").call(() -> {
            try (var scope = new StructuredTaskScope<String>()) {
                var subtask = scope.fork(() -> NAME.orElse("not inherited"));
                scope.join();
                System.out.println(ScopeDump.container(scope) + "; " + subtask.get() + "; "
                        + StructuredTaskScope.class.getModule());
                return null;
            }
        });
    }
}
