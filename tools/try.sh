# shellcheck shell=bash
# ./dev try: the tests of one module that match a pattern, as soon after a change as possible. javac compiles the sources
# of the module and of those that it needs in one run, if one of them is newer than the classes; a whole compile of core
# takes three seconds without Error Prone, so no rule is needed for what a change makes stale. The output has a folder of
# its own, so that Maven and this command do not touch each other's.

# Prints the modules of this build whose classes are on the class path of a module, and the module itself.
try_modules() {
  tr ':' '\n' <"$1/target/try/classpath" | sed -n "s:^$PWD/\(.*\)/target/classes\$:\1:p"
  printf '%s\n' "$1"
}

# Asks Maven for the class path of a module's tests, unless no POM has changed since the last time.
try_class_path() {
  local out=$1/target/try log
  if [ -s "$out/classpath" ] && [ -z "$(find pom.xml "$1/pom.xml" -newer "$out/classpath")" ]; then return; fi
  mkdir -p "$out"
  log=$(mktemp)
  mvn -B -pl "$1" -am test-compile dependency:build-classpath -Dmdep.includeScope=test \
    -Dmaven.main.skip -Dmaven.test.skip -Dmaven.resources.skip -Dmdep.outputFile=target/try/classpath >"$log" 2>&1 || {
    cat "$log" >&2
    rm -f "$out/classpath" "$log"
    return 1
  }
  rm -f "$log"
}

# Compiles the Java files that follow, if one of them is newer than the last compile or the classes that it used.
try_compile() {
  local to=$1 path=$2
  shift 2
  find "$@" -name '*.java' ! -name module-info.java >"$to.sources"
  if [ -e "$to.done" ] && [ ! "$path" -nt "$to.done" ] && [ -z "$(find "$@" -newer "$to.done" -print -quit)" ]; then return; fi
  rm -rf "$to" "$to.done"
  mkdir -p "$to"
  touch "$to.begun"
  "$JAVA_HOME/bin/javac" -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -proc:none -nowarn -parameters \
    -XDstringConcat=inline -d "$to" -cp "$(cat "$path")" @"$to.sources"
  mv "$to.begun" "$to.done"
}

try_tests() {
  local module=core root=$PWD modules main=() arguments=() resources='' path out line
  if [ "${1:-}" = -pl ]; then
    module=${2:?dev: try -pl needs a module}
    shift 2
  fi
  [ $# -gt 0 ] || { echo 'dev: try which tests? A pattern of class names, such as "Gate*Test"' >&2 && return 2; }
  [ -f "$module/pom.xml" ] || { echo "dev: try needs a directory with a module, was \"$module\"" >&2 && return 2; }
  try_class_path "$module"
  out=$PWD/$module/target/try
  modules=$(try_modules "$module")
  for line in $modules; do
    [ ! -d "$line/src/main/java" ] || main+=("$PWD/$line/src/main/java")
    resources+=$PWD/$line/src/main/resources:
  done
  path=$(tr ':' '\n' <"$out/classpath" | grep -v "^$PWD/.*/target/classes\$" | paste -sd:)
  printf '%s' "$path" >"$out/main.path.new"
  printf '%s' "$out/main:$resources$path" >"$out/test.path.new"
  for line in main test; do
    if cmp -s "$out/$line.path.new" "$out/$line.path"; then rm "$out/$line.path.new"; else mv "$out/$line.path.new" "$out/$line.path"; fi
  done
  try_compile "$out/main" "$out/main.path" "${main[@]}"
  [ ! "$out/main.done" -nt "$out/test.path" ] || touch -r "$out/main.done" "$out/test.path"
  try_compile "$out/test" "$out/test.path" "$PWD/$module/src/test/java"
  # On a class path there are no modules to read.
  read -ra arguments <<<"$(sed -n 's:.*<argLine>\(.*\)</argLine>.*:\1:p' "$module/pom.xml" | sed 's:--add-reads [^ ]*::')"
  cd "$module"
  "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -ea "-Dbasedir=$PWD" ${arguments[@]+"${arguments[@]}"} \
    -cp "$out/test:$PWD/src/test/resources:$(cat "$out/test.path")" "$root/tools/Try.java" "$out/test" "$@"
}
