package dev.raddle.cli.show;

import java.io.IOException;
import java.io.OutputStream;

/** Writes a tag before each line. */
final class Lines extends OutputStream {
    private final OutputStream to;
    private final byte[] tag;
    private int last = '\n';

    Lines(OutputStream to, byte[] tag) {
        this.to = to;
        this.tag = tag;
    }

    @Override
    public void write(int b) throws IOException {
        if (last == '\n') {
            to.write(tag);
        }
        to.write(b);
        last = b;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (tag.length > 0) {
            super.write(bytes, offset, length);
        } else if (length > 0) {
            to.write(bytes, offset, length);
            last = bytes[offset + length - 1];
        }
    }

    /** Ends a line that has no end. */
    void end() throws IOException {
        if (last != '\n') {
            write('\n');
        }
    }

    @Override
    public void flush() throws IOException {
        to.flush();
    }
}
