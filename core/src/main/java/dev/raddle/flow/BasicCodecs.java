package dev.raddle.flow;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The codecs of this package. */
final class BasicCodecs {

    /** A codec for the values of one class. */
    record Typed<X>(
            CheckedFunction.F1<X, byte[]> encoding, CheckedFunction.F1<byte[], ? extends X> decoding, Class<X> type)
            implements FlowCodec {

        @Override
        public byte[] encode(Object value) throws IOException {
            if (!type.isInstance(value)) {
                throw new IOException("this codec stores values of " + type.getName() + ", and the value was a "
                        + value.getClass().getName() + "; open the journal with another codec");
            }
            return converted(encoding, type.cast(value), "encode");
        }

        @Override
        public Object decode(byte[] bytes) throws IOException {
            return converted(decoding, bytes, "decode");
        }

        @Override
        public String toString() {
            return "codec for values of " + type.getName();
        }
    }

    private BasicCodecs() {}

    static FlowCodec text() {
        return new Typed<>(BasicCodecs::utf8, bytes -> new String(bytes, StandardCharsets.UTF_8), String.class);
    }

    static FlowCodec bytes() {
        return new Typed<>(bytes -> bytes.clone(), bytes -> bytes, byte[].class);
    }

    /** Encodes a value; a checked exception that the codec does not declare becomes an IOException. */
    static byte[] encode(FlowCodec codec, Object value) throws IOException {
        return converted(codec::encode, value, "encode");
    }

    /** Decodes a value; a checked exception that the codec does not declare becomes an IOException. */
    static Object decode(FlowCodec codec, byte[] bytes) throws IOException {
        return converted(codec::decode, bytes, "decode");
    }

    private static <X, Y> Y converted(CheckedFunction.F1<X, Y> conversion, X from, String action) throws IOException {
        try {
            return conversion.apply(from);
        } catch (IOException | RuntimeException | Error declared) {
            throw declared;
        } catch (Throwable undeclared) {
            String what = from instanceof byte[] bytes
                    ? bytes.length + " bytes"
                    : "a " + from.getClass().getName();
            throw new IOException("the codec cannot " + action + " " + what, undeclared);
        }
    }

    /** Encodes a text, or throws if it has an unpaired surrogate, which would be replaced by a question mark. */
    static byte[] utf8(String text) throws IOException {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (CharacterCodingException failure) {
            throw new IOException("a text with an unpaired surrogate cannot be stored; split it elsewhere", failure);
        }
    }
}
