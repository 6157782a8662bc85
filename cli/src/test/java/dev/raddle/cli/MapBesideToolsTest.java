package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Examples of the manuals of GNU parallel and xargs print the same, make the same files and succeed with {@code raddle
 * map}, for names with spaces, quotes, code, line breaks and bytes that are no text.
 */
@Timeout(120)
class MapBesideToolsTest {
    /** What differs between the tools. The variables are empty with raddle or with its peer. */
    private static final Map<String, String> TOOLS = Map.of(
            "parallel",
            "P() { parallel --will-cite \"$@\"; }; Q=-q; MAX=-m; SHELL_=; COMMANDS=",
            "xargs",
            "X() { xargs \"$@\"; }; EACH() { printf '%s\\0' * | xargs -0 -n 1 gzip --best; }",
            "raddle",
            "P() { \"$JAVA\" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED"
                    + " -cp \"$CLASSES\" dev.raddle.cli.Main map \"$@\"; }; X() { P -n max \"$@\"; };"
                    + " EACH() { P gzip --best ::: *; }; Q=; MAX='-n max'; SHELL_=--shell; COMMANDS=--commands");

    /** Makes files with names of all kinds: those of {@code makeall} also have line breaks. */
    private static final String MAKE = """
            set -o pipefail
            mkdir -p bin home
            printf '#!/bin/sh\\n{ cat -- "$1"; echo lame; } > "$3"\\n' > bin/lame
            printf '#!/bin/sh\\ncat -- "$1" > "$2"\\n' > bin/convert
            printf '#!/bin/sh\\ncp -- "$1" unzipped\\n' > bin/unzip
            printf '#!/bin/sh\\nprintf "<%%s>" "$@"; echo\\n' > bin/cmd
            chmod +x bin/*
            PATH=$PWD/bin:$PATH HOME=$PWD/home
            lines() {
                printf '%s\\n' plain 'two  words' "a'b" 'a"b' '$(touch pwned)' '`touch pwned`' 'a;b&c' 'x.y.z' '*' '{}'
                printf 'caf\\351\\ngr\\303\\266\\303\\237e\\n'
            }
            make() {
                mkdir -p "$1"
                lines | (LC_ALL=C; while IFS= read -r name; do echo "FOO BAR $name" > "$1/$name$2"; done)
            }
            makeall() { make "$@"; echo FOO BAR > "$1/$(printf 'line\\nbreak')$2"; }
            mkdir work; cd work
            """;

    /** Gzip keeps the time of a file. */
    private static final String SAME_TIMES = "\nfind . -type f -exec touch -d @1000000000 {} +\n";

    private static final String SHOW = """

            echo $? > ../exit
            find . -print0 | LC_ALL=C sort -z > ../tree
            find . -type f -print0 | LC_ALL=C sort -z | xargs -0 cat -- > ../contents
            """;

    @TempDir
    private Path directory;

    static Stream<Arguments> examples() {
        return Stream.of(
                parallel("make . .html", "find . -name '*.html' | P gzip --best"),
                parallel("makeall . ''", "find . -type f -print0 | P -0 $Q perl -i -pe 's/FOO BAR/FUBAR/g'"),
                parallel("make . .html", "P gzip --best ::: *.html"),
                parallel("make . .wav", "P lame {} -o {.}.mp3 ::: *.wav"),
                parallel("makeall . .log; mkdir destdir", "printf '%s\\0' *.log | P -0 $MAX mv {} destdir"),
                parallel("", "seq -w 0 9999 | P -X touch pict{}.jpg"),
                parallel("make . ''; gzip -n -- *", "P $SHELL_ 'zcat {} >{.}' ::: *.gz"),
                parallel("make . .zip", "P $SHELL_ 'mkdir {.}; cd {.}; unzip ../{}' ::: *.zip"),
                parallel(
                        "make sounddir/a .wav; mkdir mydir",
                        "find sounddir -name '*.wav' | P lame {} -o mydir/{/.}.mp3"),
                parallel("", "P echo {1} {2} ::: red green blue ::: S M L XL XXL"),
                parallel(
                        "printf 'Name\\tE-mail address\\n' > in; lines | sed 's/$/\\ta b@c/' >> in",
                        "cat in | P --colsep '\\t' --header : echo {Name} '{E-mail address}'"),
                parallel("lines | sed 's/$/\\ta b/' > in", "P -a in --colsep '\\t' cmd -o {2} -i {1}"),
                parallel("lines > in", "cat in | P -k echo {} append_string"),
                parallel("", "P -k --tag echo ::: 12 13 14"),
                parallel("make . .es.txt", "ls *.es.* | perl -pe 'print; s/\\.es//' | P -N2 cp {1} {2}"),
                parallel("", "P --link -a <(seq 6) -a <(seq 6 -1 1) echo"),
                parallel("make . ''", "find . -type f | sort | P convert {} {#}.png"),
                parallel(
                        "lines | LC_ALL=C sed \"s/'/'\\\\\\\\''/g; s/.*/echo '&' \\\\| cat/\" > in",
                        "P -j 100 $COMMANDS < in"),
                xargs(
                        "makeall a core; makeall b core; makeall c o; mv a/plaincore core",
                        "find . -name '*core' -type f -print0 | X -0 /bin/rm -f"),
                xargs("makeall . ''", "EACH"), // GNU parallel divides arguments at line breaks
                xargs("", "cut -d: -f1 < /etc/passwd | sort | X echo"));
    }

    private static Arguments parallel(String setup, String script) {
        return Arguments.of("parallel", setup, script);
    }

    private static Arguments xargs(String setup, String script) {
        return Arguments.of("xargs", setup, script);
    }

    /** What a run left. The texts have a character for each byte. */
    private record Outcome(boolean succeeded, List<String> out, String tree, String contents) {}

    @ParameterizedTest(name = "{2}")
    @MethodSource("examples")
    void an_example_of_the_manual_does_the_same(String tool, String setup, String script) throws Exception {
        assumeThat(isInstalled(tool)).as(tool + " is installed (GNU)").isTrue();
        Outcome expected = run(tool, setup, script);

        assertThat(run("raddle", setup, script)).isEqualTo(expected);
        assertThat(expected.succeeded).as(expected.toString()).isTrue();
        assertThat(expected.tree).doesNotContain("pwned\0");
    }

    private Outcome run(String tool, String setup, String script) throws IOException, InterruptedException {
        Path home = Files.createDirectory(directory.resolve(tool));
        Process process = bash(home, TOOLS.get(tool) + "\n" + MAKE + setup + SAME_TIMES + script + SHOW);
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        process.waitFor();
        List<String> lines = Arrays.asList(out.split("\n", -1));
        return new Outcome(
                read(home, "exit").equals("0\n"),
                script.contains(" -k ") ? lines : lines.stream().sorted().toList(),
                read(home, "tree"),
                read(home, "contents"));
    }

    private static String read(Path home, String name) throws IOException {
        return Files.readString(home.resolve(name), StandardCharsets.ISO_8859_1);
    }

    private static boolean isInstalled(String tool) throws IOException, InterruptedException {
        return bash(Path.of("."), tool + " --version | grep -q GNU").waitFor() == 0;
    }

    private static Process bash(Path home, String script) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", script)
                .directory(home.toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().put("SHELL", "/bin/bash");
        builder.environment()
                .put(
                        "JAVA",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString());
        builder.environment().put("CLASSES", System.getProperty("java.class.path"));
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        return builder.start();
    }
}
