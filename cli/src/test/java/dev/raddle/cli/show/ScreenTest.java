package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.junit.jupiter.api.Test;

class ScreenTest {
    private static List<AttributedString> lines(String... texts) {
        return List.of(texts).stream().map(AttributedString::new).toList();
    }

    @Test
    void text_scrolls_by_above_the_lines_that_stay() throws Exception {
        Page page = Page.terminal(40, 24);
        Screen screen = new Screen(page.console());

        screen.print(lines("first"));
        screen.draw(lines("bar 1", "bar 2"));
        screen.print(lines("second"));
        screen.draw(lines("BAR 1", "BAR 2", "BAR 3"));
        screen.print(lines("third"));

        assertThat(page.seen()).isEqualTo("first\nsecond\nthird\nBAR 1\nBAR 2\nBAR 3");
    }

    @Test
    void lines_that_stay_are_cut_so_that_they_never_wrap() throws Exception {
        Page page = Page.terminal(10, 24);

        new Screen(page.console()).draw(lines("0123456789abc", "日本日本日本"));

        assertThat(page.seen()).isEqualTo("012345678\n日本日本");
    }

    @Test
    void the_cursor_is_hidden_once_and_comes_back() throws Exception {
        Page page = Page.terminal(40, 24);
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
    void the_cursor_comes_back_when_the_process_gives_up() throws Exception {
        Page page = Page.terminal(40, 24);
        Screen screen = new Screen(page.console());
        screen.draw(lines("bar"));

        screen.restore();

        assertThat(page.text()).endsWith("\033[?25h");
    }

    @Test
    void something_else_may_write_where_the_lines_stood() throws Exception {
        Page page = Page.terminal(40, 24);
        Screen screen = new Screen(page.console());
        screen.draw(lines("bar 1", "bar 2"));

        screen.aside(() -> page.console().write("output\n"));

        assertThat(page.seen()).isEqualTo("output\nbar 1\nbar 2");
    }

    @Test
    void colours_are_only_for_who_wants_them() throws Exception {
        AttributedString red = new AttributedString("x", AttributedStyle.DEFAULT.foreground(AttributedStyle.RED));
        Page colours = Page.colourTerminal();
        Page plain = Page.terminal(80, 24);

        new Screen(colours.console()).print(List.of(red));
        new Screen(plain.console()).print(List.of(red));

        assertThat(colours.text()).isEqualTo("\033[31mx\033[0m\n");
        assertThat(plain.text()).isEqualTo("x\n");
    }
}
