package dev.raddle.flow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

    private ForcedFile open() throws IOException {
        return open(Long.MAX_VALUE);
    }

    private ForcedFile open(long limit) throws IOException {
        return new ForcedFile(new RandomAccessFile(file.toFile(), "rw"), 0, limit, bytes -> {
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
                forced.append((text + ";").getBytes(UTF_8));
                outcomes.add(text);
            } catch (IOException failure) {
                outcomes.add(text + " " + failure.getMessage());
            }
        });
    }

    @Test
    void each_record_is_forced_before_the_next_is_written() throws Exception {
        ForcedFile forced = open();
        gate.release(10);
        append(forced, "a").join();
        append(forced, "b").join();
        assertThat(forces).hasValue(2);
        assertThat(file).hasContent("a;b;");
    }

    @Test
    void a_record_that_would_exceed_the_limit_is_refused_and_a_shorter_one_fits() throws Exception {
        ForcedFile forced = open(5);
        gate.release(10);
        append(forced, "aa").join();
        append(forced, "bb").join();
        append(forced, "c").join();
        assertThat(outcomes.getFirst()).isEqualTo("aa");
        assertThat(outcomes.get(1))
                .startsWith("bb a record of 3 bytes does not fit: the file has 3 bytes, and at most 5");
        assertThat(outcomes.getLast()).isEqualTo("c");
        assertThat(file).hasContent("aa;c;");
    }

    @Test
    void a_record_that_cannot_be_forced_is_removed() throws Exception {
        ForcedFile forced = open();
        gate.release(3);
        append(forced, "a").join();
        broken = true;
        append(forced, "b").join();
        broken = false;
        append(forced, "c").join();
        assertThat(outcomes).containsExactly("a", "b disk is broken", "c");
        assertThat(file).hasContent("a;c;");
    }

    @Test
    void a_file_that_is_closing_forces_the_record_that_is_being_forced() throws Exception {
        ForcedFile forced = open();
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
        assertThatThrownBy(() -> forced.append(new byte[1])).hasMessage("it is closed");
    }
}
