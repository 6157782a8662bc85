package dev.raddle.cli.show;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** As much of a terminal as is needed to know what stands on it: cursor up, return, line feed, erase below. */
final class Emulator {
    private static final Pattern TOKEN = Pattern.compile("\033\\[\\??(\\d*)([A-Za-z])|\r|\n|[^\033\r\n]+");

    private Emulator() {}

    static String screen(String text) {
        List<StringBuilder> lines = new ArrayList<>(List.of(new StringBuilder()));
        int row = 0;
        int column = 0;
        Matcher matcher = TOKEN.matcher(text);
        while (matcher.find()) {
            String token = matcher.group();
            if (token.equals("\r")) {
                column = 0;
            } else if (token.equals("\n")) {
                row++;
                column = 0;
                if (row == lines.size()) {
                    lines.add(new StringBuilder());
                }
            } else if (!token.startsWith("\033")) {
                StringBuilder line = lines.get(row);
                line.replace(column, Math.min(line.length(), column + token.length()), token);
                column += token.length();
            } else if (matcher.group(2).equals("A")) {
                row -= Integer.parseInt(matcher.group(1));
            } else if (matcher.group(2).equals("J")) {
                lines.get(row).setLength(column);
                lines.subList(row + 1, lines.size()).clear();
            }
        }
        return String.join("\n", lines);
    }
}
