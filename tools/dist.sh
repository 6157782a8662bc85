# Sourced by ./dev: makes what users download. See docs/adr/0038-the-packages-of-the-command.md.

# All times in the packages. The start-up cache names the times of the jars, so they are set before it is made.
DIST_EPOCH=1735689600 # 2025-01-01, project.build.outputTimestamp of pom.xml

# What the command, the Redis client and the driver of PostgreSQL need (the driver signs in by Kerberos too), besides what
# these need.
DIST_MODULES=java.base,java.logging,java.management,java.naming,java.security.jgss,java.sql,jdk.httpserver,jdk.unsupported

# The heap begins small and grows as far as it must: by default it begins with a 64th of the memory of the machine.
DIST_FLAGS=(
  -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xms16m -XX:MinHeapFreeRatio=15
  --enable-native-access=ALL-UNNAMED
)

dist_version() {
  sed -n 's/^version=//p' cli/target/maven-archiver/pom.properties
}

dist_platform() {
  local system machine
  system=$(uname -s | tr '[:upper:]' '[:lower:]')
  machine=$(uname -m)
  case $machine in
    x86_64) machine=x64 ;;
    arm64) machine=aarch64 ;;
  esac
  printf '%s-%s\n' "${system/darwin/macos}" "$machine"
}

dist_touch() {
  find "$1" -exec touch -h -d "@$DIST_EPOCH" {} +
}

# Puts the jars, the launcher and the texts in place.
dist_files() {
  local to=$1 jars=() own=() command jar
  mkdir -p "$to/bin" "$to/lib" "$to/examples"
  jars+=(raddle-cli.jar)
  cp cli/target/raddle-cli.jar "$to/lib/"
  for jar in $(cd cli/target/lib && LC_ALL=C ls -- *.jar); do
    cp "cli/target/lib/$jar" "$to/lib/"
    jars+=("$jar")
  done
  "$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 tools/dist/NewerClasses.java "$to"/lib/*.jar
  cp tools/find-jdk.sh "$to/lib/"
  sed -e "s|@JARS@|$(dist_path '$lib' "${jars[@]}")|" -e "s|@FLAGS@|${DIST_FLAGS[*]}|" tools/dist/raddle >"$to/bin/raddle"
  for command in fleet flows console; do
    mkdir "$to/lib/$command"
    own=()
    for jar in $(cd "cli/target/lib-$command" && LC_ALL=C ls -- *.jar); do
      cp "cli/target/lib-$command/$jar" "$to/lib/$command/"
      own+=("$command/$jar")
    done
    sed -i "s|@${command^^}_JARS@|$(dist_path '$lib' "${own[@]}")|" "$to/bin/raddle"
  done
  chmod 755 "$to/bin/raddle"
  cp examples/hello.yaml "$to/examples/"
  cp LICENSE CHANGELOG.md docs/guide/install.md tools/dist/THIRD-PARTY.md "$to/"
  dist_notices "$to"
  local share=$to/share
  mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" \
    "$share/fish/vendor_completions.d"
  dist_raddle man >"$share/man/man1/raddle.1"
  dist_raddle completion bash >"$share/bash-completion/completions/raddle"
  dist_raddle completion zsh >"$share/zsh/site-functions/_raddle"
  dist_raddle completion fish >"$share/fish/vendor_completions.d/raddle.fish"
}

# Every jar of others has a notice, and none is a preview of a release.
dist_notices() {
  local jar name
  for jar in $(find "$1/lib" -name '*.jar' ! -name 'raddle-*'); do
    name=$(basename "$jar" | sed 's/-[0-9].*//')
    grep -Eq "^\|( |.*, )$name( |,)" "$1/THIRD-PARTY.md" || {
      echo "dist: tools/dist/THIRD-PARTY.md has no line for $name" >&2
      return 1
    }
    case $(basename "$jar" | tr '[:upper:]' '[:lower:]') in
      *-alpha* | *-beta* | *-rc[0-9]* | *-m[0-9]*)
        echo "dist: $jar is no final release" >&2
        return 1
        ;;
    esac
  done
}

# The jars below a directory, as a class path.
dist_path() {
  local directory=$1
  shift
  printf '%s\n' "${@/#/$directory/}" | paste -sd :
}

dist_raddle() {
  "$JAVA_HOME/bin/java" "${DIST_FLAGS[@]}" -cp "cli/target/raddle-cli.jar:cli/target/lib/*" dev.raddle.cli.Main "$@"
}

dist_runtime() {
  "$JAVA_HOME/bin/jlink" --add-modules "$DIST_MODULES" --strip-debug --no-header-files --no-man-pages \
    --output "$1/lib/runtime"
}

# Keeps the classes of a small run, a map and the smaller commands, loaded and linked. The paths of the jars are relative
# when the cache is made, so that it does not depend on the directory.
dist_cache() {
  local work path
  path=$(sed -n 's/^path=\(\$lib\/raddle-cli[^"]*\)$/\1/p' "$1/bin/raddle")
  work=$(mktemp -d)
  (cd "$1" && lib/runtime/bin/java "${DIST_FLAGS[@]}" -XX:AOTCacheOutput=lib/raddle.aot -cp "${path//\$lib/lib}" \
    dev.raddle.cli.Training "$work") >"$work.log" 2>&1 || {
    cat "$work.log" >&2
    return 1
  }
  rm -rf "$work" "$work.log"
}

dist_tar() {
  tar --directory "$1" --sort=name --mtime="@$DIST_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
    -cf - "$2" | gzip -n >"$3"
}

# The same files where Debian wants them.
dist_deb() {
  local from=$1 version=${2/-/\~} file=$3 root size maintainer=${RADDLE_MAINTAINER:-Raddle <raddle@localhost>}
  root=$(mktemp -d)/raddle
  mkdir -p "$root/DEBIAN" "$root/usr/lib/raddle" "$root/usr/bin" "$root/usr/share/doc/raddle/examples" \
    "$root/usr/share/zsh"
  cp -a "$from/bin" "$from/lib" "$root/usr/lib/raddle/"
  ln -s ../lib/raddle/bin/raddle "$root/usr/bin/raddle"
  cp -a "$from/share/man" "$from/share/bash-completion" "$from/share/fish" "$root/usr/share/"
  cp -a "$from/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
  gzip -n -9 "$root/usr/share/man/man1/raddle.1"
  cat "$from/LICENSE" "$from/THIRD-PARTY.md" >"$root/usr/share/doc/raddle/copyright"
  gzip -n -9 <"$from/CHANGELOG.md" >"$root/usr/share/doc/raddle/CHANGELOG.md.gz"
  gzip -n -9 >"$root/usr/share/doc/raddle/changelog.gz" <<END
raddle ($version) stable; urgency=medium

  * See CHANGELOG.md.gz in this directory.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$DIST_EPOCH")
END
  cp "$from/examples/hello.yaml" "$root/usr/share/doc/raddle/examples/"
  dist_touch "$root/usr"
  size=$(du -sk --apparent-size "$root/usr" | cut -f 1)
  cat >"$root/DEBIAN/control" <<END
Package: raddle
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer${RADDLE_URL:+
Homepage: $RADDLE_URL}
Installed-Size: $size
Depends: libc6 (>= 2.29)
Section: utils
Priority: optional
Description: runs many commands under exact limits for each group
 Runs the commands of a file, or a command for each line of its input, in groups.
 Each group has a limit. Contains its own Java run-time.
END
  chmod -R u+rwX,go+rX,go-w "$root"
  dist_touch "$root/DEBIAN"
  SOURCE_DATE_EPOCH=$DIST_EPOCH dpkg-deb --root-owner-group -Zgzip --build "$root" "$file" >/dev/null
  rm -rf "${root%/raddle}"
}

# Makes all packages in a directory, by default cli/target/dist. RADDLE_BUILD=never takes the jars that are there,
# RADDLE_DEB=never makes no .deb.
dist() {
  local to=${1:-cli/target/dist} version name stage
  mkdir -p "$to"
  to=$(cd "$to" && pwd)
  [ "${RADDLE_BUILD:-}" = never ] || build cli
  version=$(dist_version)
  name=raddle-$version
  stage=$(mktemp -d)
  umask 022
  rm -f "$to"/raddle*
  dist_files "$stage/$name"
  dist_touch "$stage/$name"
  "$JAVA_HOME/bin/java" -Duser.timezone=UTC tools/dist/Zip.java "$stage/$name" "$to/$name.zip" "$DIST_EPOCH"
  local platform
  platform=$(dist_platform)
  mv "$stage/$name" "$stage/$name-$platform"
  rm "$stage/$name-$platform/lib/find-jdk.sh"
  dist_runtime "$stage/$name-$platform"
  dist_touch "$stage/$name-$platform"
  dist_cache "$stage/$name-$platform"
  dist_touch "$stage/$name-$platform"
  dist_tar "$stage" "$name-$platform" "$to/$name-$platform.tar.gz"
  if [ "${RADDLE_DEB:-}" != never ] && command -v dpkg-deb >/dev/null; then
    dist_deb "$stage/$name-$platform" "$version" "$to/raddle_${version/-/\~}_$(dpkg --print-architecture).deb"
  fi
  (cd "$to" && sha256sum raddle* >SHA256SUMS)
  rm -rf "$stage"
  (cd "$to" && ls -l raddle* SHA256SUMS)
}
