package outside;

import bundle.Client;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.eclipse.osgi.launch.EquinoxFactory;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.launch.Framework;

/** Starts Raddle's core as a bundle of OSGi, and another bundle that uses it. */
public final class Bundles {

    private static final String CLIENT = """
            Manifest-Version: 1.0
            Bundle-ManifestVersion: 2
            Bundle-SymbolicName: client
            Import-Package: dev.raddle.group,dev.raddle.scope,dev.raddle.task

            """;

    private Bundles() {}

    /** Starts them. The arguments are the jar of the core and a directory for the framework. */
    public static void main(String[] args) throws Exception {
        Path core = Path.of(args[0]);
        Framework framework = new EquinoxFactory()
                .newFramework(Map.of(
                        "org.osgi.framework.storage", args[1], "org.osgi.framework.storage.clean", "onFirstInit"));
        framework.start();
        try {
            BundleContext context = framework.getBundleContext();
            Bundle raddle = context.installBundle(core.toUri().toString());
            raddle.start();
            Bundle client = context.installBundle("client", client());
            client.start();
            Callable<?> call = (Callable<?>)
                    client.loadClass(Client.class.getName()).getConstructor().newInstance();
            expect("done", call.call());
            expect(packages(core), exports(raddle));
        } finally {
            framework.stop();
            framework.waitForStop(10_000);
        }
        System.out.println("a bundle has run a task");
    }

    /** Returns the bundle that uses Raddle, without classes of the core. */
    private static InputStream client() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Manifest manifest = new Manifest(new ByteArrayInputStream(CLIENT.getBytes()));
        String name = Client.class.getName().replace('.', '/') + ".class";
        try (JarOutputStream jar = new JarOutputStream(bytes, manifest);
                InputStream content = Client.class.getResourceAsStream("/" + name)) {
            jar.putNextEntry(new JarEntry(name));
            content.transferTo(jar);
        }
        return new ByteArrayInputStream(bytes.toByteArray());
    }

    /** Returns the packages that the module exports to all others. */
    private static Set<String> packages(Path core) {
        return ModuleFinder.of(core).find("dev.raddle").orElseThrow().descriptor().exports().stream()
                .filter(export -> !export.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> exports(Bundle raddle) {
        return new TreeSet<>(
                Arrays.asList(raddle.getHeaders().get("Export-Package").split(",")));
    }

    private static void expect(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
