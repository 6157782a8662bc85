package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputPrinterTest {
    @TempDir
    private Path directory;

    private final TestConsole out = TestConsole.file();
    private final TestConsole err = TestConsole.file();
    private final List<String> printed = new ArrayList<>();

    private OutputPrinter printer(TestConsole to, boolean ordered, boolean keep) {
        return new OutputPrinter(
                to.console(),
                err.console(),
                new Screen(err.console()),
                id -> new OutputPrinter.Printed(
                        directory.resolve(id + ".out"), directory.resolve(id + ".err"), keep, ""),
                printed::add,
                ordered);
    }

    private void write(String id, String output, String errors) throws Exception {
        Files.writeString(directory.resolve(id + ".out"), output);
        Files.writeString(directory.resolve(id + ".err"), errors);
    }

    @Test
    void output_is_printed_as_a_whole_when_a_task_ends_and_its_files_are_deleted() throws Exception {
        OutputPrinter printer = printer(out, false, false);
        write("1", "a1\na2\n", "oops\n");
        write("2", "b1", "");

        printer.on(Events.succeeded("2", "g"));
        printer.on(Events.failed("1", "g", null));
        printer.on(Events.dropped("3", "g"));

        assertThat(out.text()).isEqualTo("b1a1\na2\n");
        assertThat(err.text()).isEqualTo("oops\n");
        assertThat(printed).containsExactly("2", "1", "3");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void a_tag_precedes_each_line() throws Exception {
        OutputPrinter printer = new OutputPrinter(
                out.console(),
                err.console(),
                new Screen(err.console()),
                id -> new OutputPrinter.Printed(
                        directory.resolve(id + ".out"), directory.resolve(id + ".err"), true, "x y\t"),
                printed::add,
                false);
        write("1", "a\n\nb", "oops\n");

        printer.on(Events.succeeded("1", "g"));

        assertThat(out.text()).isEqualTo("x y\ta\nx y\t\nx y\tb");
        assertThat(err.text()).isEqualTo("x y\toops\n");
    }

    @Test
    void in_order_the_output_of_a_task_waits_for_that_of_earlier_tasks() throws Exception {
        OutputPrinter printer = printer(out, true, true);
        write("1", "one\n", "");
        write("2", "two\n", "");
        write("7", "seven\n", "");
        for (String id : List.of("1", "2", "7")) { // those between have run before
            printer.on(Events.queued(id, "g"));
        }

        printer.on(Events.succeeded("7", "g"));
        assertThat(out.text()).isEmpty();
        assertThat(printed).isEmpty();
        printer.on(Events.succeeded("1", "g"));
        assertThat(out.text()).isEqualTo("one\n");
        printer.on(Events.succeeded("2", "g"));

        assertThat(out.text()).isEqualTo("one\ntwo\nseven\n");
        assertThat(printed).containsExactly("1", "2", "7");
        assertThat(directory.resolve("1.out")).exists();
    }

    @Test
    void on_a_terminal_the_next_line_never_continues_the_output() throws Exception {
        TestConsole terminal = TestConsole.terminal(80, 24);
        write("1", "no line feed", "");

        printer(terminal, false, false).on(Events.succeeded("1", "g"));

        assertThat(terminal.text()).isEqualTo("no line feed\n");
    }

    @Test
    void bytes_are_copied_unchanged() throws Exception {
        byte[] bytes = new byte[100_000];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31);
        }
        Files.write(directory.resolve("1.out"), bytes);

        printer(out, false, false).on(Events.succeeded("1", "g"));

        assertThat(out.bytes()).isEqualTo(bytes);
    }
}
