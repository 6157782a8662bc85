package program;

import java.util.Map;
import java.util.ServiceLoader;

/** Looks at each place from a program of its own. */
public final class Main {

    private Main() {}

    public static void main(String[] args) throws Exception {
        try (Places places = new Places()) {
            System.exit(report(places.visit(Main::whatIsFound)));
        }
    }

    /** Returns "ok" if the application's service, resource and class are found by the context class loader. */
    public static String whatIsFound() {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        try {
            boolean service = ServiceLoader.load(Greeting.class).findFirst().isPresent();
            boolean resource = loader != null && loader.getResource("only-here.txt") != null;
            Class.forName(Hello.class.getName(), false, loader);
            return service && resource ? "ok" : "service " + service + ", resource " + resource + " in " + loader;
        } catch (ClassNotFoundException noClass) {
            return "no class in " + loader;
        }
    }

    /** Prints the places that are wrong, and returns how many those are. */
    public static int report(Map<String, String> found) {
        long wrong = found.entrySet().stream()
                .filter(each -> !each.getValue().equals("ok"))
                .peek(each -> System.out.println(each.getKey() + ": " + each.getValue()))
                .count();
        System.out.println(wrong + " of " + found.size() + " places are wrong");
        return (int) wrong;
    }
}
