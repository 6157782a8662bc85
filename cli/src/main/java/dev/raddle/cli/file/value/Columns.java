package dev.raddle.cli.file.value;

import java.util.List;

/** Formats rows as a table, whose columns are as wide as their widest cell. */
public final class Columns {
    private static final String GAP = "  ";

    private Columns() {}

    /**
     * Returns a table.
     *
     * @param rows the rows, with the same number of cells each
     * @return a line for each row, each of which ends with a line break
     */
    public static String text(List<List<String>> rows) {
        int[] widths = new int[rows.isEmpty() ? 0 : rows.getFirst().size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], length(row.get(i)));
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String cell = row.get(i);
                line.append(cell).repeat(' ', widths[i] - length(cell)).append(GAP);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    private static int length(String cell) {
        return cell.codePointCount(0, cell.length());
    }
}
