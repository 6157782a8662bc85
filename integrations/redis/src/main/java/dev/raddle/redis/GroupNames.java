package dev.raddle.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Writes keys of groups as text of letters, digits and {@code . _ - : / @ + = % #}, which the script can parse. */
final class GroupNames {

    /*
     * Every other character is escaped: %hh for each byte of its UTF-8 form, %uhhhh for half of a surrogate pair. The
     * empty key is %e. Of a long key only the beginning is kept, with a digest of all of it. Different keys have
     * different names, because % is escaped, too.
     */

    /** The longest escaped key that is kept whole, in characters. */
    static final int LONGEST = 1024;

    private static final int KEPT = 64;
    private static final String PLAIN = "._-:/@+=";

    private GroupNames() {}

    static String of(String key) {
        if (key.isEmpty()) {
            return "%e";
        }
        if (key.length() > LONGEST) {
            return digested(key, escaped(key, KEPT));
        }
        String name = escaped(key, key.length());
        return name.length() <= LONGEST ? name : digested(key, escaped(key, KEPT));
    }

    /** Returns the key of a name, for people; of a long key its beginning and digest. */
    static String keyOf(String name) {
        if (name.equals("%e")) {
            return "";
        }
        StringBuilder key = new StringBuilder();
        byte[] bytes = new byte[name.length()];
        int pending = 0;
        int i = 0;
        while (i < name.length()) {
            char c = name.charAt(i);
            if (c == '%' && i + 2 < name.length() && name.charAt(i + 1) != 'u' && name.charAt(i + 1) != '#') {
                bytes[pending++] = (byte) parse(name, i + 1, i + 3);
                i += 3;
                continue;
            }
            key.append(new String(bytes, 0, pending, StandardCharsets.UTF_8));
            pending = 0;
            if (c == '%' && i + 5 < name.length() && name.charAt(i + 1) == 'u') {
                key.append((char) parse(name, i + 2, i + 6));
                i += 6;
            } else {
                key.append(c == '%' ? '…' : c);
                i++;
            }
        }
        return key.append(new String(bytes, 0, pending, StandardCharsets.UTF_8)).toString();
    }

    private static int parse(String name, int from, int to) {
        try {
            return HexFormat.fromHexDigits(name, from, to);
        } catch (IllegalArgumentException malformed) {
            return '?';
        }
    }

    private static String escaped(String key, int length) {
        StringBuilder name = new StringBuilder(length + 16);
        for (int i = 0; i < length; ) {
            int c = key.codePointAt(i);
            if (isPlain(c)) {
                name.append((char) c);
            } else if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                name.append("%u").append(HexFormat.of().toHexDigits((char) c));
            } else {
                for (byte b : Character.toString(c).getBytes(StandardCharsets.UTF_8)) {
                    name.append('%').append(HexFormat.of().toHexDigits(b));
                }
            }
            i += Character.charCount(c);
        }
        return name.toString();
    }

    private static boolean isPlain(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || PLAIN.indexOf(c) >= 0;
    }

    private static String digested(String key, String beginning) {
        byte[] utf16 = new byte[2 * key.length()];
        for (int i = 0; i < key.length(); i++) {
            utf16[2 * i] = (byte) (key.charAt(i) >> 8);
            utf16[2 * i + 1] = (byte) key.charAt(i);
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(utf16);
            return beginning + "%#" + HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) { // every Java platform has SHA-256
            throw new IllegalStateException(impossible);
        }
    }
}
