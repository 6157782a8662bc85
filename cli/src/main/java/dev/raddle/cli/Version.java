package dev.raddle.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Reads the version from a file that the build adds to the jar. */
final class Version implements IVersionProvider {
    private static final String WRITTEN_BY_BUILD = "/META-INF/maven/dev.raddle/raddle-cli/pom.properties";

    Version() {}

    @Override
    public String[] getVersion() throws IOException {
        return new String[] {name(), "Java " + Runtime.version()};
    }

    /** Returns the name of the command with its version. */
    static String name() throws IOException {
        Properties properties = new Properties();
        try (InputStream input = Version.class.getResourceAsStream(WRITTEN_BY_BUILD)) {
            if (input != null) {
                properties.load(input);
            }
        }
        return "raddle " + properties.getProperty("version", "(not packaged)");
    }
}
