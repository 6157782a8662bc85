import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * Checks the artifacts of a release in a folder repository, and compares them with those of a second build.
 *
 * <p>Use: {@code java ReleaseCheck.java REPOSITORY VERSION OTHER-BUILD MODULE...}, where a module is a directory below
 * the second build.
 */
public class ReleaseCheck {
    private final List<String> failures = new ArrayList<>();
    private final String version;

    private ReleaseCheck(String version) {
        this.version = version;
    }

    public static void main(String[] args) throws Exception {
        Path group = Path.of(args[0]).resolve("dev/raddle");
        ReleaseCheck check = new ReleaseCheck(args[1]);
        Map<String, Path> modules = new LinkedHashMap<>();
        for (String module : Arrays.asList(args).subList(3, args.length)) {
            Path directory = Path.of(args[2]).resolve(module);
            modules.put(text(root(directory.resolve("pom.xml")), "artifactId"), directory);
        }
        check.published(group, modules.keySet());
        for (String artifact : modules.keySet()) {
            Path at = group.resolve(artifact).resolve(check.version);
            Element pom = root(at.resolve(check.file(artifact, ".pom")));
            check.pom(artifact, pom);
            check.components(artifact, at);
            if (!text(pom, "packaging").equals("pom")) {
                check.jars(artifact, at);
            }
            check.sameAs(artifact, at, modules.get(artifact));
        }
        if (!check.failures.isEmpty()) {
            check.failures.forEach(failure -> System.out.println("release-check: " + failure));
            System.exit(1);
        }
        System.out.println(modules.size() + " artifacts of version " + check.version
                + ": POMs, modules, sources, javadoc and component lists are complete, and a second build is the same");
    }

    private void expect(boolean holds, String failure) {
        if (!holds) {
            failures.add(failure);
        }
    }

    private String file(String artifact, String suffix) {
        return artifact + "-" + version + suffix;
    }

    /** The repository has the published modules, and nothing else. */
    private void published(Path group, Set<String> artifacts) throws Exception {
        try (var found = Files.list(group)) {
            Set<String> names = new TreeSet<>(
                    found.map(path -> path.getFileName().toString()).toList());
            expect(names.equals(new TreeSet<>(artifacts)), "published are " + names + " instead of " + artifacts);
        }
        Element bom = root(group.resolve("raddle-bom").resolve(version).resolve(file("raddle-bom", ".pom")));
        Set<String> managed = new TreeSet<>();
        managed.add("raddle-bom");
        for (Element dependency : children(child(child(bom, "dependencyManagement"), "dependencies"))) {
            managed.add(text(dependency, "artifactId"));
            expect(
                    text(dependency, "version").equals(version),
                    "another version in raddle-bom: " + describe(dependency));
        }
        expect(managed.equals(new TreeSet<>(artifacts)), "raddle-bom lists " + managed + " instead of " + artifacts);
    }

    /** What a repository requires of a POM, and no dependency that a user could not resolve. */
    private void pom(String artifact, Element pom) {
        expect(child(pom, "parent") == null, artifact + ": the POM has a parent, which is not published");
        for (String path : List.of(
                "name",
                "description",
                "url",
                "licenses/license/url",
                "developers/developer/name",
                "scm/url",
                "scm/connection")) {
            expect(!text(pom, path.split("/")).isEmpty(), artifact + ": the POM has no " + path);
        }
        String all = pom.getTextContent();
        expect(!all.contains("${"), artifact + ": the POM has a property without a value");
        expect(!all.contains("SNAPSHOT"), artifact + ": the POM names a SNAPSHOT");
        expect(child(pom, "repositories") == null, artifact + ": the POM names a repository");
        for (Element dependency : children(child(pom, "dependencies"))) {
            expect(!text(dependency, "version").isEmpty(), artifact + ": no version of " + describe(dependency));
            boolean inherited = !Set.of("provided", "test").contains(text(dependency, "scope"));
            expect(
                    !artifact.equals("raddle-core") || !inherited,
                    "raddle-core depends on " + describe(dependency) + ", and must depend on nothing");
        }
    }

    private void components(String artifact, Path at) throws IOException {
        Path json = at.resolve(file(artifact, "-cyclonedx.json"));
        expect(Files.exists(at.resolve(file(artifact, "-cyclonedx.xml"))), artifact + ": no list of components (XML)");
        if (Files.notExists(json)) {
            failures.add(artifact + ": no list of components (JSON)");
            return;
        }
        String text = Files.readString(json);
        expect(text.contains("pkg:maven/dev.raddle/" + artifact + "@" + version), json + " does not name the artifact");
        expect(!text.contains("SNAPSHOT"), json + " names a SNAPSHOT");
        expect(!text.contains("junit"), json + " lists libraries of tests");
    }

    private void jars(String artifact, Path at) throws IOException {
        Path jar = at.resolve(file(artifact, ".jar"));
        ModuleReference module = ModuleFinder.of(jar).findAll().iterator().next();
        ModuleDescriptor descriptor = module.descriptor();
        String expected = switch (artifact) {
            case "raddle-core" -> "dev.raddle";
            case "raddle-spring-boot-starter" -> "dev.raddle.spring";
            default -> "dev." + artifact.replace('-', '.');
        };
        expect(descriptor.name().equals(expected), artifact + " is the module " + descriptor.name());
        expect(named(jar, descriptor), artifact + " has neither a module descriptor nor Automatic-Module-Name");
        expect(
                descriptor.isAutomatic()
                        || descriptor.rawVersion().orElse("none").equals(version),
                artifact + ": the version of the module is " + descriptor.rawVersion());
        for (String in : descriptor.packages()) {
            expect((in + ".").startsWith(expected + "."), artifact + " has the package " + in);
        }

        Path sources = at.resolve(file(artifact, "-sources.jar"));
        Path javadoc = at.resolve(file(artifact, "-javadoc.jar"));
        Set<String> sourceFiles = entries(sources).keySet();
        Set<String> pages = entries(javadoc).keySet();
        expect(pages.contains("index.html"), artifact + ": the javadoc jar has no index.html");
        for (String in : descriptor.packages()) {
            String folder = in.replace('.', '/') + "/";
            expect(sourceFiles.stream().anyMatch(f -> f.startsWith(folder)), artifact + ": no sources of " + in);
        }
        for (ModuleDescriptor.Exports exported : descriptor.exports()) {
            String page = exported.source().replace('.', '/') + "/package-summary.html";
            expect(
                    pages.stream().anyMatch(p -> p.endsWith(page)),
                    artifact + ": the javadoc jar has no page of " + exported.source());
        }
        if (artifact.equals("raddle-core")) {
            expect(
                    content(javadoc, "index.html").contains("The path of a call"),
                    "raddle-core: javadoc has no overview");
        } else if (descriptor.requires().stream().anyMatch(r -> r.name().equals("dev.raddle"))) {
            expect(linked(javadoc), artifact + ": no page of javadoc links to the pages of the core");
        }
    }

    private static boolean named(Path jar, ModuleDescriptor descriptor) throws IOException {
        return !descriptor.isAutomatic() || content(jar, "META-INF/MANIFEST.MF").contains("Automatic-Module-Name");
    }

    private static boolean linked(Path javadoc) throws IOException {
        for (String page : entries(javadoc).keySet()) {
            if (page.endsWith(".html") && content(javadoc, page).contains("/raddle-core/")) {
                return true;
            }
        }
        return false;
    }

    /** Every file in the repository equals the one that the second build made in another directory. */
    private void sameAs(String artifact, Path at, Path other) throws IOException {
        Map<String, Path> files = new LinkedHashMap<>();
        files.put(".pom", other.resolve("target/flattened-pom.xml"));
        files.put("-cyclonedx.json", other.resolve("target/bom.json"));
        files.put("-cyclonedx.xml", other.resolve("target/bom.xml"));
        for (String suffix : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
            if (Files.exists(at.resolve(file(artifact, suffix)))) {
                files.put(suffix, other.resolve("target").resolve(file(artifact, suffix)));
            }
        }
        for (Map.Entry<String, Path> file : files.entrySet()) {
            Path first = at.resolve(file(artifact, file.getKey()));
            Path second = file.getValue();
            if (Files.notExists(first) || Files.notExists(second)) {
                failures.add("missing: " + (Files.notExists(first) ? first : second));
            } else if (Files.mismatch(first, second) >= 0) {
                failures.add(first.getFileName() + " is not reproducible: " + difference(first, second));
            }
        }
    }

    private static String difference(Path first, Path second) throws IOException {
        if (!first.toString().endsWith(".jar")) {
            return "it differs at byte " + Files.mismatch(first, second);
        }
        Map<String, ZipEntry> one = entries(first);
        Map<String, ZipEntry> two = entries(second);
        Set<String> differ = new TreeSet<>();
        for (String name : one.keySet()) {
            if (!two.containsKey(name)
                    || one.get(name).getCrc() != two.get(name).getCrc()) {
                differ.add(name);
            }
        }
        two.keySet().stream().filter(name -> !one.containsKey(name)).forEach(differ::add);
        return differ.isEmpty() ? "order, times or compression of its entries" : differ.toString();
    }

    private static Map<String, ZipEntry> entries(Path jar) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            Map<String, ZipEntry> found = new LinkedHashMap<>();
            zip.stream().forEach(entry -> found.put(entry.getName(), entry));
            return found;
        }
    }

    private static String content(Path jar, String name) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile());
                InputStream in = zip.getInputStream(zip.getEntry(name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Element root(Path xml) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(xml.toFile())
                .getDocumentElement();
    }

    private static List<Element> children(Element parent) {
        List<Element> found = new ArrayList<>();
        Node node = parent == null ? null : parent.getFirstChild();
        for (; node != null; node = node.getNextSibling()) {
            if (node instanceof Element element) {
                found.add(element);
            }
        }
        return found;
    }

    private static Element child(Element parent, String name) {
        return children(parent).stream()
                .filter(element -> element.getTagName().equals(name))
                .findFirst()
                .orElse(null);
    }

    private static String text(Element parent, String... path) {
        Element at = parent;
        for (String name : path) {
            at = child(at, name);
        }
        return at == null ? "" : at.getTextContent().strip();
    }

    private static String describe(Element dependency) {
        return text(dependency, "groupId") + ":" + text(dependency, "artifactId") + ":" + text(dependency, "version");
    }
}
