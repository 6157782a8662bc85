package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StackRoomTest {

    private static final int STACK = 256 * 1024;
    private static final int SECTION = 20; // calls in a section, at least

    /**
     * Recurses to the end of the stack. The first frame on the way back in which the check succeeds calls the section;
     * returns whether the section returned.
     */
    @SuppressWarnings("InfiniteRecursion") // ends by StackOverflowError
    private static boolean enterAtTheEnd(Runnable check, Runnable section) {
        try {
            return enterAtTheEnd(check, section);
        } catch (StackOverflowError end) {
            check.run(); // if this overflows, the calling frame repeats it
        }
        try {
            section.run();
            return true;
        } catch (StackOverflowError inSection) {
            return false;
        }
    }

    private static int callThen(Runnable last, int calls) {
        if (calls > 0) {
            return 1 + callThen(last, calls - 1);
        }
        last.run();
        return 0;
    }

    private static boolean returnsAtTheEnd(Runnable check, Runnable section) throws Exception {
        check.run(); // initializes the class, and links the calls, while there is room
        section.run();
        FutureTask<Boolean> entering = new FutureTask<>(() -> enterAtTheEnd(check, section));
        new Thread(null, entering, "deep", STACK).start();
        return entering.get();
    }

    @Test
    void a_section_that_follows_the_check_of_the_stack_does_not_overflow() throws Exception {
        assertThat(returnsAtTheEnd(StackRoom::ensure, () -> callThen(() -> {}, SECTION)))
                .isTrue();
    }

    @Test
    void a_method_with_sections_that_follows_its_check_has_room_for_theirs() throws Exception {
        assertThat(returnsAtTheEnd(StackRoom::ensureForSections, () -> callThen(StackRoom::ensure, SECTION)))
                .isTrue();
    }
}
