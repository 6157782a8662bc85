import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Writes a directory as a zip with sorted names, the permissions of the files and one time for all. Use: {@code java
 * -Duser.timezone=UTC Zip.java DIRECTORY FILE EPOCH_SECONDS}.
 */
public class Zip {
    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]).toAbsolutePath();
        FileTime time = FileTime.fromMillis(Long.parseLong(args[2]) * 1000);
        List<Path> paths;
        try (Stream<Path> walk = Files.walk(directory)) {
            paths = walk.sorted().toList();
        }
        URI file = URI.create("jar:" + Path.of(args[1]).toAbsolutePath().toUri());
        Map<String, Object> settings = Map.of("create", true, "enablePosixFileAttributes", true);
        try (FileSystem zip = FileSystems.newFileSystem(file, settings)) {
            for (Path path : paths) {
                Path entry = zip.getPath(directory.getParent().relativize(path).toString());
                if (Files.isDirectory(path)) {
                    Files.createDirectory(entry);
                } else {
                    Files.copy(path, entry, StandardCopyOption.REPLACE_EXISTING);
                }
                Files.setPosixFilePermissions(entry, Files.getPosixFilePermissions(path));
                Files.getFileAttributeView(entry, BasicFileAttributeView.class).setTimes(time, time, time);
            }
        }
    }
}
