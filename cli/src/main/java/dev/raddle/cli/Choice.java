package dev.raddle.cli;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The words for the constants of an enum, as a shell proposes them and the command line has them. */
abstract class Choice<E extends Enum<E>> implements Iterable<String>, ITypeConverter<E> {
    private final Class<E> type;

    Choice(Class<E> type) {
        this.type = type;
    }

    @Override
    public Iterator<String> iterator() {
        return words().iterator();
    }

    private List<String> words() {
        return Arrays.stream(type.getEnumConstants()).map(Enum::toString).toList();
    }

    @Override
    public E convert(String text) {
        int index = words().indexOf(text);
        if (index < 0) {
            String all = String.join(", ", words()).replaceFirst("(.*), ", "$1 or ");
            throw new TypeConversionException("must be " + all + ", was \"" + text + "\"");
        }
        return type.getEnumConstants()[index];
    }
}
