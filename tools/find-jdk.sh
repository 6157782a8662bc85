# Sourced by ./raddle, by ./dev and by the launcher of the packages, which sh runs: finds a JDK without starting one.

RADDLE_JAVA=25

# Prints the home of a JDK that is new enough, JAVA_HOME first; fails when there is none.
find_jdk() {
  local home key value
  for home in "${JAVA_HOME:-}" \
    /usr/lib/jvm/* /usr/java/* /usr/local/lib/jvm/* /opt/* /opt/*/* \
    "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home "${HOME:-}"/Library/Java/JavaVirtualMachines/*/Contents/Home; do
    [ -n "$home" ] && [ -x "$home/bin/javac" ] && [ -r "$home/release" ] || continue
    while IFS== read -r key value; do
      [ "$key" = JAVA_VERSION ] || continue
      value=${value#\"}
      value=${value%%[!0-9]*}
      if [ "${value:-0}" -ge "$RADDLE_JAVA" ]; then
        printf '%s\n' "$home"
        return 0
      fi
    done <"$home/release"
  done
  return 1
}

no_jdk() {
  printf '%s: no JDK %s or newer found: install one under a usual place such as /usr/lib/jvm, or set JAVA_HOME\n' \
    "$1" "$RADDLE_JAVA" >&2
  exit 69
}
