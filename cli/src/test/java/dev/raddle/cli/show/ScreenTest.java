package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jline.terminal.Size;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScreenTest {
    private static List<AttributedString> lines(String... texts) {
        return List.of(texts).stream().map(AttributedString::new).toList();
    }

    @Test
    void text_scrolls_above_the_fixed_lines() throws Exception {
        TestConsole page = TestConsole.terminal(40, 24);
        Screen screen = new Screen(page.console());

        screen.print(lines("first"));
        screen.draw(lines("bar 1", "bar 2"));
        screen.print(lines("second"));
        screen.draw(lines("BAR 1", "BAR 2", "BAR 3"));
        screen.print(lines("third"));

        assertThat(page.seen()).isEqualTo("first\nsecond\nthird\nBAR 1\nBAR 2\nBAR 3");
    }

    @Test
    void fixed_lines_are_cut_so_that_they_never_wrap() throws Exception {
        TestConsole page = TestConsole.terminal(10, 24);

        new Screen(page.console()).draw(lines("0123456789abc", "日本日本日本"));

        assertThat(page.seen()).isEqualTo("012345678\n日本日本");
    }

    @Test
    void the_cursor_is_hidden_once_and_shown_again() throws Exception {
        TestConsole page = TestConsole.terminal(40, 24);
        Screen screen = new Screen(page.console());

        screen.draw(lines("bar"));
        screen.draw(lines("bar"));
        screen.clear();
        screen.restore();

        assertThat(page.text()).containsOnlyOnce("\033[?25l").containsOnlyOnce("\033[?25h");
        assertThat(page.text().indexOf("\033[?25l")).isLessThan(page.text().indexOf("\033[?25h"));
        assertThat(page.seen()).isEmpty();
    }

    @Test
    void the_cursor_is_shown_again_when_the_process_ends_at_once() throws Exception {
        TestConsole page = TestConsole.terminal(40, 24);
        Screen screen = new Screen(page.console());
        screen.draw(lines("bar"));

        screen.restore();

        assertThat(page.text()).endsWith("\033[?25h");
    }

    @Test
    void another_writer_may_use_the_position_of_the_fixed_lines() throws Exception {
        TestConsole page = TestConsole.terminal(40, 24);
        Screen screen = new Screen(page.console());
        screen.draw(lines("bar 1", "bar 2"));

        screen.writeAside(() -> page.console().write("output\n"));

        assertThat(page.seen()).isEqualTo("output\nbar 1\nbar 2");
    }

    @Test
    void colours_are_used_only_if_enabled() throws Exception {
        AttributedString red = new AttributedString("x", AttributedStyle.DEFAULT.foreground(AttributedStyle.RED));
        TestConsole colours = TestConsole.colourTerminal();
        TestConsole plain = TestConsole.terminal(80, 24);

        new Screen(colours.console()).print(List.of(red));
        new Screen(plain.console()).print(List.of(red));

        assertThat(colours.text()).isEqualTo("\033[31mx\033[0m\n");
        assertThat(plain.text()).isEqualTo("x\n");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void old_lines_are_erased_completely_when_the_terminal_changes_its_size(boolean reflows) throws Exception {
        TerminalEmulator terminal = new TerminalEmulator(40, 10, reflows);
        AtomicReference<Size> size = new AtomicReference<>(Size.of(40, 10));
        Screen screen = new Screen(TestConsole.on(terminal, size::get));
        List<AttributedString> bars = lines("1".repeat(39), "2".repeat(39), "3".repeat(39));
        screen.print(lines("first", "second"));
        screen.draw(bars);

        for (int columns : new int[] {12, 38, 7, 80, 40}) {
            terminal.resize(columns, 10);
            screen.print(lines("at " + columns)); // the new size is not known yet
            size.set(Size.of(columns, 10));
            screen.draw(bars);
        }
        screen.clear();

        assertThat(terminal.screen()).isEqualTo("first\nsecond\nat 12\nat 38\nat 7\nat 80\nat 40\n");
    }

    @Test
    void fixed_lines_do_not_wrap_while_the_new_width_is_unknown() throws Exception {
        TerminalEmulator terminal = new TerminalEmulator(40, 10, true);
        Screen screen = new Screen(TestConsole.on(terminal, () -> Size.of(40, 10)));
        terminal.resize(10, 10);

        screen.draw(lines("1".repeat(39), "2".repeat(39)));
        screen.print(lines("text that scrolls by wraps"));

        assertThat(terminal.screen())
                .isEqualTo("text that \nscrolls by\n wraps\n" + "1".repeat(10) + "\n" + "2".repeat(10));
    }

    @Test
    void lines_at_the_top_of_the_screen_do_not_enter_the_scrollback() throws Exception {
        TerminalEmulator terminal = new TerminalEmulator(40, 10, true);
        Screen screen = new Screen(TestConsole.on(terminal, () -> Size.of(40, 10)));

        screen.draw(lines("bar 1", "bar 2"));
        screen.draw(lines("BAR 1", "BAR 2"));
        screen.print(lines("text"));

        assertThat(terminal.screen()).isEqualTo("text\nBAR 1\nBAR 2");
    }
}
