package dev.raddle.scope;

/** A program started in a separate JVM. Prints the container of a scope and the values that a subtask inherits. */
final class ContainerProbe {

    private static final ScopedValue<String> NAME = ScopedValue.newInstance();

    private ContainerProbe() {}

    public static void main(String[] arguments) throws Exception {
        ScopedValue.where(NAME, "inherited").call(() -> {
            try (var scope = new StructuredTaskScope<String>()) {
                var subtask = scope.fork(() -> NAME.orElse("not inherited"));
                scope.join();
                System.out.println(
                        scope.container + "; " + subtask.get() + "; " + StructuredTaskScope.class.getModule());
                return null;
            }
        });
    }
}
