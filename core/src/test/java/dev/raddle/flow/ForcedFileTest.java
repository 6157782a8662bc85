package dev.raddle.flow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.Wait;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ForcedFileTest {

    @TempDir
    Path folder;

    private Path file;
    private final AtomicInteger forces = new AtomicInteger();
    private final Semaphore entered = new Semaphore(0);
    private final Semaphore gate = new Semaphore(0);
    private final List<String> outcomes = new CopyOnWriteArrayList<>();
    private volatile boolean broken;

    @BeforeEach
    void name() {
        file = folder.resolve("forced");
    }

    private ForcedFile open(boolean groups) throws IOException {
        return open(groups, Long.MAX_VALUE);
    }

    private ForcedFile open(boolean groups, long limit) throws IOException {
        return new ForcedFile(new RandomAccessFile(file.toFile(), "rw"), 0, limit, groups, bytes -> {
            forces.incrementAndGet();
            entered.release();
            gate.acquireUninterruptibly();
            if (broken) {
                throw new IOException("disk is broken");
            }
            bytes.getFD().sync();
        });
    }

    private Thread append(ForcedFile forced, String text) {
        return Thread.ofVirtual().start(() -> {
            try {
                forced.append(before -> (text + before + ";").getBytes(UTF_8));
                outcomes.add(text);
            } catch (IOException failure) {
                outcomes.add(text + " " + failure.getMessage());
            }
        });
    }

    @Test
    void each_record_alone_is_forced_before_the_next_is_written() throws Exception {
        ForcedFile forced = open(false);
        gate.release(10);
        append(forced, "a").join();
        append(forced, "b").join();
        assertThat(forces).hasValue(2);
        assertThat(file).hasContent("a0;b3;");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_record_that_would_exceed_the_limit_is_refused_and_a_shorter_one_fits(boolean groups) throws Exception {
        ForcedFile forced = open(groups, 7);
        gate.release(10);
        append(forced, "aa").join();
        append(forced, "bb").join();
        append(forced, "c").join();
        assertThat(outcomes.getFirst()).isEqualTo("aa");
        assertThat(outcomes.get(1))
                .startsWith("bb a record of 4 bytes does not fit: the file has 4 bytes, and at most 7");
        assertThat(outcomes.getLast()).isEqualTo("c");
        assertThat(file).hasContent("aa0;c4;");
    }

    @Test
    void records_that_are_written_during_a_force_share_the_next_one() throws Exception {
        ForcedFile forced = open(true);
        Thread a = append(forced, "a");
        entered.acquire();
        List<Thread> others = List.of(append(forced, "b"), append(forced, "c"), append(forced, "d"));
        Wait.until(() -> file.toFile().length() == 12); // written, and not forced
        assertThat(outcomes).isEmpty();
        gate.release();
        a.join();
        entered.acquire();
        assertThat(outcomes).containsExactly("a");
        gate.release();
        for (Thread other : others) {
            other.join();
        }
        assertThat(forces).hasValue(2);
        assertThat(outcomes).containsExactlyInAnyOrder("a", "b", "c", "d");
    }

    @Test
    void a_force_that_fails_fails_its_group_and_the_one_that_was_written_meanwhile_and_removes_both() throws Exception {
        ForcedFile forced = open(true);
        gate.release();
        append(forced, "a").join();
        entered.acquire();
        Thread b = append(forced, "b");
        entered.acquire();
        Thread c = append(forced, "c");
        Wait.until(() -> file.toFile().length() == 9);
        broken = true;
        gate.release();
        b.join();
        c.join();
        assertThat(outcomes).containsExactlyInAnyOrder("a", "b disk is broken", "c disk is broken");
        assertThat(forces).hasValue(2);
        assertThat(file).hasContent("a0;");
        broken = false;
        gate.release();
        append(forced, "d").join();
        assertThat(file).hasContent("a0;d3;");
    }

    @Test
    void a_record_that_cannot_be_forced_alone_is_removed() throws Exception {
        ForcedFile forced = open(false);
        gate.release(3);
        append(forced, "a").join();
        broken = true;
        append(forced, "b").join();
        broken = false;
        append(forced, "c").join();
        assertThat(outcomes).containsExactly("a", "b disk is broken", "c");
        assertThat(file).hasContent("a0;c3;");
    }

    @Test
    void a_file_that_is_closing_forces_the_records_that_are_being_forced() throws Exception {
        ForcedFile forced = open(true);
        Thread a = append(forced, "a");
        entered.acquire();
        AtomicInteger closed = new AtomicInteger();
        Thread closer = Thread.ofVirtual().start(() -> {
            try {
                forced.close(closed::incrementAndGet);
                forced.close(closed::incrementAndGet);
            } catch (IOException failure) {
                outcomes.add("close " + failure.getMessage());
            }
        });
        gate.release();
        a.join();
        closer.join();
        assertThat(outcomes).containsExactly("a");
        assertThat(closed).hasValue(1);
        assertThatThrownBy(() -> forced.append(before -> new byte[1])).hasMessage("it is closed");
    }
}
