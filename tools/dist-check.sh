# Sourced by ./dev: unpacks each package and uses it where there is neither Java nor Maven.

# Fills a directory with links to the programs that the commands and the packages need, and to no others.
only_programs() {
  local program
  mkdir -p "$1"
  for program in sh bash env cat cut date dirname echo false grep locale mkdir printf readlink rm sed seq sleep sort tail touch \
    tr true uname wc; do
    ln -s "$(type -P "$program")" "$1/$program"
  done
}

# Runs the unpacked command in an empty directory, without variables of this shell.
alone() {
  env -i PATH="$programs" HOME="$home" "$@"
}

expect() {
  local what=$1 expected=$2 actual=$3
  [ "$expected" = "$actual" ] || {
    printf 'dist-check: %s: %s: expected "%s", was "%s"\n' "$package" "$what" "$expected" "$actual" >&2
    return 1
  }
}

# Texts are compared when they are complete: a command ends with 141 if its reader closes the output early.
expect_part() {
  local what=$1 part=$2 text=$3
  case $text in
    *"$part"*) ;;
    *)
      printf 'dist-check: %s: %s: expected "%s" in "%s"\n' "$package" "$what" "$part" "$text" >&2
      return 1
      ;;
  esac
}

# Every command below has a function here that uses it; check_package fails for a command that has none.

use_run() {
  alone "$raddle" run --results out "$hello" >log || { cat log >&2 && return 1; }
  [ -s out/report.html ] && [ -s out/report.json ] || return 1
  expect_part 'run --console' 'the run is shown at http://localhost:' \
    "$(alone "$raddle" run --console 0 --results live "$hello" 2>&1)"
}

use_map() {
  expect map '1-x 2-x 3-x' "$(seq 3 | alone "$raddle" map --keep-order --shell 'echo {}-x' | paste -sd ' ')"
  expect 'map of one program' 3 "$(seq 3 | alone "$raddle" map echo | wc -l)"
  expect 'map where the locale is not installed' 'größe 3' "$(echo 3 | alone LC_ALL=xx_YY.UTF-8 "$raddle" map echo größe)"
}

use_check() {
  alone "$raddle" check "$hello" >/dev/null
}

use_list() {
  expect_part list 'bake-rye ' "$(alone "$raddle" list "$hello")"
}

use_graph() {
  expect_part graph '<svg' "$(alone "$raddle" graph --format svg "$hello")"
}

use_explain() {
  printf 'tasks: [{ id: broken, run: "false" }]\n' >broken.yaml
  alone "$raddle" run --quiet --results broken broken.yaml >log 2>&1 || true
  expect_part explain 'broken' "$(alone "$raddle" explain broken broken)"
}

use_schema() {
  expect_part schema '"$schema"' "$(alone "$raddle" schema)"
}

use_fleet() {
  expect_part fleet vip "$(alone "$raddle" fleet --redis "$redis")"
}

use_fleet_set() {
  expect_part 'fleet set' 'limit of "vip": 4' "$(alone "$raddle" fleet set vip --limit 4 --redis "$redis")"
}

use_flows() {
  # Alone it only names its subcommands.
  expect flows 2 "$(alone "$raddle" flows 2>/dev/null; echo $?)"
}

use_flows_list() {
  expect_part 'flows list' FAILED "$(alone "$raddle" flows list --db "$database")"
}

use_flows_show() {
  expect_part 'flows show' 'no van' "$(alone "$raddle" flows show failed --html page.html --db "$database")"
  [ -s page.html ]
}

use_flows_cancel() {
  expect_part 'flows cancel' CANCELLED "$(alone "$raddle" flows cancel waiting --db "$database")"
}

use_flows_rerun() {
  expect_part 'flows rerun' 'will be run again' "$(alone "$raddle" flows rerun failed --db "$database")"
}

use_flows_schedules() {
  expect_part 'flows schedules' rarely "$(alone "$raddle" flows schedules --db "$database")"
}

use_flows_pause-schedule() {
  expect_part 'flows pause-schedule' 'is paused' "$(alone "$raddle" flows pause-schedule rarely --db "$database")"
}

use_flows_resume-schedule() {
  expect_part 'flows resume-schedule' 'next round at' "$(alone "$raddle" flows resume-schedule rarely --db "$database")"
}

use_flows_remove-schedule() {
  expect_part 'flows remove-schedule' 'is removed' "$(alone "$raddle" flows remove-schedule rarely --db "$database")"
}

use_completion() {
  local shell
  for shell in bash zsh fish; do
    expect_part "completion for $shell" keep-going "$(alone "$raddle" completion "$shell")"
  done
}

use_man() {
  expect_part man '.TH "RADDLE"' "$(alone "$raddle" man)"
}

use_version() {
  expect_part 'version for reports' 'processors: ' "$(alone "$raddle" version)"
}

# The commands that the help text of a command lists.
commands_of() {
  alone "$raddle" "$@" --help | sed -n '/^Commands:$/,/^Examples:$/s/^  \([a-z][a-z-]*\)  .*/\1/p'
}

use() {
  local function
  function=use_$(IFS=_ && echo "$*")
  declare -F "$function" >/dev/null || {
    echo "dist-check: $package: \"raddle $*\" is not used: tools/dist-check.sh has no $function" >&2
    return 1
  }
  "$function"
}

# Uses one unpacked package: the launcher, the example that belongs to it, and every command with real servers.
check_package() {
  local raddle=$1 hello=$2 database directory command subcommand commands
  database=$(sed -n "$3p" "$servers")
  directory=$(mktemp -d "$home/XXXXXX")
  cd "$directory"
  expect_part version "raddle $version" "$(alone "$raddle" --version)"
  commands=$(commands_of)
  expect_part 'the list of commands' flows "$commands"
  for command in $commands; do
    for subcommand in $(commands_of "$command"); do
      use "$command" "$subcommand"
    done
    use "$command"
  done
  expect 'exit code' 2 "$(alone "$raddle" no-such-command 2>/dev/null; echo $?)"
  expect_part 'fleet without a server' 'Connection refused' \
    "$(alone "$raddle" fleet --redis redis://127.0.0.1:1 2>&1 || true)"
  ln -s "$raddle" "$directory/linked"
  expect_part 'version by a link' "raddle $version" "$(alone "$directory/linked" --version)"
}

# Starts the servers that the tests start. They end with this shell, which holds the other end of their standard input.
start_servers() {
  local path
  path=$(tests_class_path cli)
  servers=$work/servers
  mkfifo "$work/hold"
  "$JAVA_HOME/bin/java" --sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED -cp "$path" \
    dev.raddle.cli.PackageServers 3 "$servers" <"$work/hold" >"$work/servers.log" 2>&1 &
  servers_pid=$!
  exec 8>"$work/hold"
  until [ -s "$servers" ]; do
    kill -0 "$servers_pid" 2>/dev/null || { cat "$work/servers.log" >&2 && return 1; }
    sleep 0.2
  done
  redis=$(sed -n 1p "$servers")
}

stop_servers() {
  exec 8>&-
  wait "$servers_pid" || true
}

# With AOTMode=on a JVM that cannot use its start-up cache ends.
check_cache() {
  alone JDK_JAVA_OPTIONS=-XX:AOTMode=on "$1" --version >/dev/null 2>"$home/cache" || {
    echo "dist-check: $package: the start-up cache cannot be used:" >&2
    cat "$home/cache" >&2
    return 1
  }
}

# Compares everything but the start-up caches, whose order of entries varies, and what contains their sums.
check_reproducible() {
  local first=$1 second=$2 side
  cmp "$first"/raddle-*.zip "$second"/raddle-*.zip
  for side in "$first" "$second"; do
    mkdir "$home/tar.$(basename "$side")"
    tar xzf "$side"/raddle-*.tar.gz -C "$home/tar.$(basename "$side")"
  done
  rm "$home"/tar.*/raddle-*/lib/raddle.aot
  diff -r "$home/tar.$(basename "$first")" "$home/tar.$(basename "$second")"
}

dist_check() (
  set -euo pipefail
  trap 'echo "dist-check: failed: $BASH_COMMAND" >&2' ERR
  local work programs home version package servers servers_pid redis
  RADDLE_MAINTAINER='Ada Lovelace <ada@example.org>' RADDLE_URL=https://example.org/raddle dist >/dev/null
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  programs=$work/programs
  home=$work/home
  mkdir "$home"
  only_programs "$programs"
  version=$(dist_version)
  start_servers
  trap 'stop_servers; rm -rf "$work"' EXIT
  local dist=$PWD/cli/target/dist platform
  platform=$(dist_platform)
  (cd "$dist" && sha256sum --quiet --check SHA256SUMS)

  mkdir "$work/second"
  RADDLE_BUILD=never RADDLE_DEB=never dist "$work/second" >/dev/null

  package=raddle-$version-$platform.tar.gz
  mkdir "$work/tar" && tar xzf "$dist/$package" -C "$work/tar"
  (check_package "$work/tar/raddle-$version-$platform/bin/raddle" "$work/tar/raddle-$version-$platform/examples/hello.yaml" 2)
  [ -s "$work/tar/raddle-$version-$platform/THIRD-PARTY.md" ]
  check_cache "$work/tar/raddle-$version-$platform/bin/raddle"

  package=$(cd "$dist" && ls raddle_*.deb 2>/dev/null || true)
  if [ -n "$package" ]; then
    dpkg-deb --extract "$dist/$package" "$work/deb"
    (check_package "$work/deb/usr/bin/raddle" "$work/deb/usr/share/doc/raddle/examples/hello.yaml" 3)
    check_cache "$work/deb/usr/bin/raddle"
    expect maintainer 'Ada Lovelace <ada@example.org>' "$(dpkg-deb --field "$dist/$package" Maintainer)"
    expect homepage https://example.org/raddle "$(dpkg-deb --field "$dist/$package" Homepage)"
    expect_part changelog "raddle (${version/-/\~})" "$(gzip -dc "$work/deb/usr/share/doc/raddle/changelog.gz")"
    expect_part 'notices of others' '| lettuce-core |' "$(cat "$work/deb/usr/share/doc/raddle/copyright")"
    [ -s "$work/deb/usr/lib/raddle/lib/runtime/legal/java.base/LICENSE" ]
    [ -s "$work/deb/usr/share/doc/raddle/CHANGELOG.md.gz" ]
    [ -s "$work/deb/usr/share/man/man1/raddle.1.gz" ]
    [ -s "$work/deb/usr/share/bash-completion/completions/raddle" ]
    [ -s "$work/deb/usr/share/zsh/vendor-completions/_raddle" ]
    [ -s "$work/deb/usr/share/fish/vendor_completions.d/raddle.fish" ]
  fi

  package=raddle-$version.zip
  if command -v unzip >/dev/null; then
    unzip -q "$dist/$package" -d "$work/zip"
    (
      alone() { env -i PATH="$programs" HOME="$home" JAVA_HOME="$JAVA_HOME" "$@"; }
      check_package "$work/zip/raddle-$version/bin/raddle" "$work/zip/raddle-$version/examples/hello.yaml" 4
    )
  else
    echo "dist-check: there is no unzip: $package was not unpacked"
  fi
  check_reproducible "$dist" "$work/second"
  echo "dist-check: the packages of raddle $version work without Java and Maven, and a second build has the same bytes"
)
