package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineInputTest {
    private static List<LineInput.Line> lines(byte[] bytes) throws IOException {
        LineInput input = new LineInput(new ByteArrayInputStream(bytes));
        List<LineInput.Line> lines = new ArrayList<>();
        for (LineInput.Line line = input.next(); line != null; line = input.next()) {
            lines.add(line);
        }
        return lines;
    }

    @Test
    void blank_lines_are_skipped_and_every_line_keeps_its_number() throws IOException {
        assertThat(lines("a\n\n \t\r\nb b\r\nc\rd".getBytes(StandardCharsets.UTF_8)))
                .containsExactly(
                        new LineInput.Line(1, "a", true),
                        new LineInput.Line(4, "b b", true),
                        new LineInput.Line(5, "c\rd", true));
    }

    @Test
    void a_line_that_is_not_utf_8_is_marked() throws IOException {
        assertThat(lines(new byte[] {'a', (byte) 0xE4, '\n', (byte) 0xC3, (byte) 0xA4}))
                .containsExactly(new LineInput.Line(1, "a\uFFFD", false), new LineInput.Line(2, "ä", true));
    }

    @Test
    void an_empty_input_has_no_lines() throws IOException {
        assertThat(lines(new byte[0])).isEmpty();
    }
}
