package dev.raddle.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuTimesTest {

    @TempDir
    Path proc;

    @Test
    void the_times_are_read_as_linux_writes_them() throws IOException {
        write(
                "cpu  100 20 30 400 50 6 7 8 90 1\ncpu0 100 20 30 400 50 6 7 8 90 1\n",
                "4711 (java (x) y) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");

        CpuTimes times = CpuTimes.read(proc);

        assertThat(times).isEqualTo(new CpuTimes(621, 8, 150, 11 + 12 + 13 + 14));
    }

    @Test
    void a_system_without_the_files_has_no_times() {
        assertThat(CpuTimes.read(proc)).isNull();
    }

    @Test
    void a_system_that_counts_no_stolen_time_has_no_times() throws IOException {
        write("cpu 1 2 3 4\n", "1 (java) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");

        assertThat(CpuTimes.read(proc)).isNull();
    }

    @Test
    void stolen_ticks_and_those_of_other_processes_are_lost() {
        CpuTimes begin = new CpuTimes(1000, 10, 500, 300);
        CpuTimes end = new CpuTimes(1200, 16, 600, 390);

        assertThat(end.lostSince(begin)).isEqualTo((6 + 100 - 90) / 200.0);
    }

    @Test
    void a_process_that_is_counted_in_more_ticks_than_all_together_makes_no_loss_smaller() {
        CpuTimes begin = new CpuTimes(1000, 10, 500, 300);
        CpuTimes end = new CpuTimes(1200, 16, 600, 402);

        assertThat(end.lostSince(begin)).isEqualTo(6 / 200.0);
    }

    @Test
    void an_interval_without_ticks_has_no_share() {
        CpuTimes times = new CpuTimes(1000, 10, 500, 300);

        assertThat(times.lostSince(times)).isNaN();
    }

    private void write(String machine, String process) throws IOException {
        Files.writeString(proc.resolve("stat"), machine);
        Files.createDirectory(proc.resolve("self"));
        Files.writeString(proc.resolve("self").resolve("stat"), process);
    }
}
