package outside;

import java.io.InputStream;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.ContextConfig;
import org.apache.catalina.startup.Tomcat;

/**
 * Deploys a WAR to one Tomcat and removes it, again and again. Afterwards no class loader of the application may be
 * reachable, none of its threads may run, and Tomcat must not have found a leak.
 */
public final class Deployments {

    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final ReferenceQueue<ClassLoader> collected = new ReferenceQueue<>();
    private final Set<Reference<ClassLoader>> loaders = new HashSet<>();
    private final Tomcat tomcat = new Tomcat();
    private final String war;

    private Deployments(String war) {
        this.war = war;
    }

    public static void main(String[] args) throws Exception {
        System.exit(new Deployments(args[0]).run(Integer.parseInt(args[1])) ? 0 : 1);
    }

    private boolean run(int rounds) throws Exception {
        Logger log = Logger.getLogger("org.apache.catalina.loader.WebappClassLoaderBase");
        log.addHandler(new Handler() {
            @Override
            public void publish(LogRecord entry) {
                // Threads are looked at later: those of a pool may still be leaving when it has been terminated.
                boolean aboutThread = entry.getMessage().contains("started a thread");
                if (entry.getLevel().intValue() >= Level.WARNING.intValue() && !aboutThread) {
                    complaints.add(entry.getMessage());
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
        Path directory = Files.createTempDirectory("tomcat");
        tomcat.setBaseDir(directory.toString());
        Files.createDirectories(directory.resolve("webapps"));
        tomcat.setPort(0);
        tomcat.getConnector();
        tomcat.start();
        int wrong = 0;
        for (int i = 0; i < rounds; i++) {
            wrong = Math.max(wrong, deploy());
        }
        Set<String> threads = threadsAfter(Duration.ofSeconds(Integer.getInteger("patience", 15)));
        for (int i = 0; i < 20 && !loaders.isEmpty(); i++) {
            System.gc();
            for (Reference<?> each; (each = collected.remove(250)) != null; ) {
                loaders.remove(each);
            }
        }
        complaints.forEach(System.out::println);
        threads.forEach(System.out::println);
        System.out.println(
                rounds + " deployments: " + wrong + " places wrong, " + loaders.size() + " class loaders and "
                        + threads.size() + " threads stayed, " + complaints.size() + " complaints of Tomcat");
        if (Boolean.getBoolean("stay")) {
            Thread.sleep(Long.MAX_VALUE);
        }
        return wrong == 0 && loaders.isEmpty() && threads.isEmpty() && complaints.isEmpty();
    }

    private int deploy() throws Exception {
        StandardContext context = new StandardContext();
        context.setDelegate(true); // prefers a Raddle on Tomcat's class path, which all applications share
        context.setPath("/application");
        context.setDocBase(war);
        ContextConfig annotations = new ContextConfig();
        annotations.setDefaultWebXml(tomcat.noDefaultWebXmlPath());
        context.addLifecycleListener(annotations);
        tomcat.getHost().addChild(context);
        loaders.add(new WeakReference<>(context.getLoader().getClassLoader(), collected));
        URI places = URI.create("http://localhost:" + tomcat.getConnector().getLocalPort() + "/application/places");
        try (InputStream answer = places.toURL().openStream()) {
            return Integer.parseInt(new String(answer.readAllBytes()).trim());
        } finally {
            tomcat.getHost().removeChild(context);
        }
    }

    /** Waits for the threads of the application that still run, and returns the names of those that do not end. */
    private static Set<String> threadsAfter(Duration patience) throws InterruptedException {
        Instant end = Instant.now().plus(patience);
        Set<String> left = new HashSet<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            boolean ours =
                    thread.getName().contains("raddle") || thread.getName().contains("program");
            if (ours && !thread.join(Duration.between(Instant.now(), end))) {
                left.add(thread.toString());
            }
        }
        return left;
    }
}
