package dev.raddle.cli.show;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A terminal emulator with the functions that these tests need: cursor up, return, line feed, erase in line and below,
 * wrapping, and changes of its size. It has one column per character, and keeps its scrollback.
 */
final class TerminalEmulator extends ByteArrayOutputStream {
    private static final Pattern TOKEN = Pattern.compile("\033\\[(\\??\\d*)([A-Za-z])|\r|\n|[^\033\r\n]+");
    private static final int WITHOUT_LIMIT = 1_000_000;

    private final boolean reflows;
    private final List<Row> rows = new ArrayList<>(List.of(new Row()));
    private int columns;
    private int height;
    private int row;
    private int column;
    private boolean wraps = true;

    private static final class Row {
        private final StringBuilder text = new StringBuilder();
        private boolean goesOn; // in the next row, because the line was too long
    }

    /** Creates a terminal that wraps lines again when its width changes, or cuts them. */
    TerminalEmulator(int columns, int height, boolean reflows) {
        this.columns = columns;
        this.height = height;
        this.reflows = reflows;
    }

    /** Returns the content of an unlimited screen after a text has been written. */
    static String screen(String text) {
        TerminalEmulator emulator = new TerminalEmulator(WITHOUT_LIMIT, WITHOUT_LIMIT, true);
        emulator.show(text);
        return emulator.screen();
    }

    String screen() {
        return String.join("\n", rows.stream().map(line -> line.text.toString()).toList());
    }

    @Override
    public void flush() {
        show(toString(StandardCharsets.UTF_8));
        reset();
    }

    private void show(String text) {
        Matcher matcher = TOKEN.matcher(text);
        while (matcher.find()) {
            String token = matcher.group();
            switch (token.charAt(0)) {
                case '\r' -> column = 0;
                case '\n' -> feed();
                case '\033' -> control(matcher.group(1), matcher.group(2));
                default -> token.chars().forEach(c -> put((char) c));
            }
        }
    }

    private void control(String number, String command) {
        switch (command) {
            case "A" -> row = Math.max(Math.max(0, rows.size() - height), row - Integer.parseInt(number));
            case "K" ->
                rows.get(row).text.setLength(Math.min(column, rows.get(row).text.length()));
            case "J" -> {
                if (column == 0 && row == Math.max(0, rows.size() - height)) {
                    row = rows.size(); // like tmux: the whole screen is moved to the scrollback
                    rows.add(new Row());
                }
                rows.get(row).text.setLength(Math.min(column, rows.get(row).text.length()));
                rows.get(row).goesOn = false;
                rows.subList(row + 1, rows.size()).clear();
            }
            case "h", "l" -> wraps = number.equals("?7") ? command.equals("h") : wraps;
            default -> {}
        }
    }

    private void feed() {
        row++;
        column = 0; // the default setting of terminals
        if (row == rows.size()) {
            rows.add(new Row());
        }
    }

    private void put(char c) {
        if (column == columns) {
            if (wraps) {
                rows.get(row).goesOn = true;
                feed();
            } else {
                column--;
            }
        }
        StringBuilder text = rows.get(row).text;
        text.append(" ".repeat(Math.max(0, column - text.length())));
        text.replace(column, Math.min(text.length(), column + 1), String.valueOf(c));
        column++;
    }

    void resize(int newColumns, int newHeight) {
        columns = newColumns;
        height = newHeight;
        if (reflows) {
            reflow();
        } else {
            rows.forEach(line -> line.text.setLength(Math.min(line.text.length(), newColumns)));
            column = Math.min(column, newColumns);
        }
    }

    private void reflow() {
        List<Row> old = List.copyOf(rows);
        int oldRow = row;
        rows.clear();
        StringBuilder line = new StringBuilder();
        int cursor = -1;
        for (int i = 0; i < old.size(); i++) {
            cursor = i == oldRow ? line.length() + column : cursor;
            line.append(old.get(i).text);
            if (!old.get(i).goesOn) {
                if (cursor >= 0) {
                    row = rows.size() + cursor / columns;
                    column = cursor % columns;
                }
                cursor = -1;
                split(line);
                line.setLength(0);
            }
        }
    }

    private void split(StringBuilder line) {
        int from = 0;
        do {
            Row part = new Row();
            part.text.append(line, from, Math.min(line.length(), from + columns));
            from += columns;
            part.goesOn = from < line.length();
            rows.add(part);
        } while (from < line.length());
    }
}
