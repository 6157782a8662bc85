# Sourced by ./dev: unpacks each package and uses it where there is neither Java nor Maven.

# Fills a directory with links to the programs that the commands and the packages need, and to no others.
only_programs() {
  local program
  mkdir -p "$1"
  for program in sh bash env cat cut date dirname echo false grep mkdir printf readlink rm sed seq sleep sort tail touch \
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

# Uses one unpacked package: the launcher, and the example that belongs to it.
check_package() {
  local raddle=$1 hello=$2 directory
  directory=$(mktemp -d "$home/XXXXXX")
  cd "$directory"
  expect_part version "raddle $version" "$(alone "$raddle" --version)"
  alone "$raddle" check "$hello" >/dev/null
  alone "$raddle" run --out out "$hello" >log || { cat log >&2 && return 1; }
  [ -s out/report.html ] && [ -s out/report.json ]
  expect map '1-x 2-x 3-x' "$(seq 3 | alone "$raddle" map --keep-order --shell 'echo {}-x' | paste -sd ' ')"
  expect 'map of one program' 3 "$(seq 3 | alone "$raddle" map echo | wc -l)"
  expect_part graph '<svg' "$(alone "$raddle" graph --format svg "$hello")"
  local shell
  for shell in bash zsh fish; do
    expect_part "completion for $shell" keep-going "$(alone "$raddle" completion "$shell")"
  done
  expect_part man '.TH "RADDLE"' "$(alone "$raddle" man)"
  expect 'exit code' 2 "$(alone "$raddle" no-such-command 2>/dev/null; echo $?)"
  # A Redis client that is not there cannot be refused.
  expect_part fleet 'Connection refused' "$(alone "$raddle" fleet --redis redis://127.0.0.1:1 2>&1 || true)"
  ln -s "$raddle" "$directory/linked"
  expect_part 'version by a link' "raddle $version" "$(alone "$directory/linked" --version)"
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
  local work programs home version package
  dist >/dev/null
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  programs=$work/programs
  home=$work/home
  mkdir "$home"
  only_programs "$programs"
  version=$(dist_version)
  local dist=$PWD/cli/target/dist platform
  platform=$(dist_platform)
  (cd "$dist" && sha256sum --quiet --check SHA256SUMS)

  mkdir "$work/second"
  RADDLE_BUILD=never RADDLE_DEB=never dist "$work/second" >/dev/null

  package=raddle-$version-$platform.tar.gz
  mkdir "$work/tar" && tar xzf "$dist/$package" -C "$work/tar"
  (check_package "$work/tar/raddle-$version-$platform/bin/raddle" "$work/tar/raddle-$version-$platform/examples/hello.yaml")
  check_cache "$work/tar/raddle-$version-$platform/bin/raddle"

  package=$(cd "$dist" && ls raddle_*.deb 2>/dev/null || true)
  if [ -n "$package" ]; then
    dpkg-deb --extract "$dist/$package" "$work/deb"
    (check_package "$work/deb/usr/bin/raddle" "$work/deb/usr/share/doc/raddle/examples/hello.yaml")
    check_cache "$work/deb/usr/bin/raddle"
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
      check_package "$work/zip/raddle-$version/bin/raddle" "$work/zip/raddle-$version/examples/hello.yaml"
    )
  else
    echo "dist-check: there is no unzip: $package was not unpacked"
  fi
  check_reproducible "$dist" "$work/second"
  echo "dist-check: the packages of raddle $version work without Java and Maven, and a second build has the same bytes"
)
