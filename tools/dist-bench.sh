# Sourced by ./dev: what the packaged command costs, beside xargs.

# Prints the middle one of the numbers on standard input.
middle() {
  sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# Runs a command, and prints its wall and CPU seconds: those of its children, too.
measured() {
  local TIMEFORMAT='%R %U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1, $2 + $3 }'
}

# Prints the seconds from the call of a command to the start of its first task, which writes the time to a file.
seconds_to_first_task() {
  local begin
  rm -rf first out
  begin=$EPOCHREALTIME
  "$@" >/dev/null 2>&1 || return 1
  awk -v begin="$begin" '{ print $1 - begin }' first
}

# Prints the peak of a command's resident memory in MB.
peak_memory() {
  local pid peak=0 now
  "$@" >/dev/null 2>&1 &
  pid=$!
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
    peak=$now
    sleep 0.1
  done
  wait "$pid" || return 1
  awk -v kilobytes="$peak" 'BEGIN { print kilobytes / 1024 }'
}

# Measures the packaged command in turn with xargs. Wants an idle machine.
bench_dist() {
  local tasks=${1:-20000} rounds=${2:-5} jobs archive work raddle
  archive=$(ls "$PWD"/cli/target/dist/raddle-*-"$(dist_platform)".tar.gz 2>/dev/null) ||
    { echo "dev: there is no package to measure: run ./dev dist first" >&2 && return 1; }
  jobs=$(getconf _NPROCESSORS_ONLN)
  work=$(mktemp -d)
  tar xzf "$archive" -C "$work"
  raddle=$(ls "$work"/raddle-*/bin/raddle)
  cd "$work"
  seq "$tasks" >lines
  printf '%s\n' 'tasks: [{ id: a, run: "date +%s.%N > first" }, { id: b, run: "true", needs: a }]' >first.yaml
  echo "$(basename "$archive"), $(nproc) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg)"

  local i
  for i in $(seq $((rounds * 4))); do
    measured "$raddle" --version >>version
    seconds_to_first_task "$raddle" run --quiet --results out first.yaml >>start
    echo x | seconds_to_first_task "$raddle" map --shell 'date +%s.%N > first; : {}' >>map-start
  done
  row() { printf '%-46s %8s  %s\n' "$@"; }
  row 'raddle --version' "$(cut -d ' ' -f 1 version | middle)" 's, goal 0.150'
  row '  its CPU time' "$(cut -d ' ' -f 2 version | middle)" s
  row 'raddle run, to the first task' "$(middle <start)" 's, goal 0.250'
  row 'raddle map, to the first task' "$(middle <map-start)" 's, goal 0.250'

  for i in $(seq "$rounds"); do
    measured xargs -n 1 -P "$jobs" /bin/true <lines >xargs-one
    measured "$raddle" map --limit "$jobs" /bin/true <lines >map-one
    paste -d ' ' xargs-one map-one >>pairs
  done
  row "xargs -n 1 -P $jobs, $tasks x /bin/true, wall" "$(cut -d ' ' -f 1 pairs | middle)" s
  row "raddle map --limit $jobs, the same, wall" "$(cut -d ' ' -f 3 pairs | middle)" s
  row '  ratio of the walls' "$(awk '{ print $3 / $1 }' pairs | middle)" 'goal 1.3'
  row '  ratio of the CPU times' "$(awk '{ print $4 / $2 }' pairs | middle)" 'goal 1.5'
  row '  peak memory of raddle' "$(peak_memory sh -c 'exec "$0" "$@" <lines' "$raddle" map --limit "$jobs" /bin/true)" 'MB, goal 100'
  cd / && rm -rf "$work"
}
