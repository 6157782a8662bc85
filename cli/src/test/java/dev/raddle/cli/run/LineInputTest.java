package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineInputTest {
    private static List<String> lines(char end, byte[] bytes) throws IOException {
        LineInput input = new LineInput(new ByteArrayInputStream(bytes), "in", end);
        List<String> lines = new ArrayList<>();
        for (LineInput.Line line = input.next(); line != null; line = input.next()) {
            lines.add(line.at() + " " + line.text());
        }
        return lines;
    }

    @Test
    void empty_lines_are_skipped_and_every_other_line_keeps_its_number_and_its_bytes() throws IOException {
        assertThat(lines('\n', "a\n\n \nb b\r\nc\rd".getBytes(StandardCharsets.UTF_8)))
                .containsExactly("in:1:1 a", "in:3:1  ", "in:4:1 b b\r", "in:5:1 c\rd");
    }

    @Test
    void an_item_ends_with_nul_and_may_be_empty_or_have_lines() throws IOException {
        assertThat(lines('\0', "a\nb\0\0 \0c".getBytes(StandardCharsets.UTF_8)))
                .containsExactly("in:1:1 a\nb", "in:2:1 ", "in:3:1  ", "in:4:1 c");
    }

    @Test
    void an_empty_input_has_no_lines() throws IOException {
        assertThat(lines('\n', new byte[0])).isEmpty();
    }
}
