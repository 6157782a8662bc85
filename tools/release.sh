# Sourced by ./dev: versions, the exported API, and what is checked before a release. See docs/releasing.md.

# The properties that the profile "release" requires. A check needs any values; a release needs the true ones.
sample=(-Draddle.url=https://example.org/raddle -Draddle.scm=https://example.org/raddle.git
  -Draddle.developer.name=Example -Draddle.developer.email=raddle@example.org)

# The directories of the published modules: those that set raddle.release.skip to false.
published() {
  local module
  sed -n '/<modules>/,/<\/modules>/s,.*<module>\(.*\)</module>.*,\1,p' pom.xml | while read -r module; do
    ! grep -q '<raddle.release.skip>false<' "$module/pom.xml" || printf '%s\n' "$module"
  done
}

artifact_of() {
  sed -n '/<\/parent>/,$s,.*<artifactId>\(.*\)</artifactId>.*,\1,p' "$1/pom.xml" | head -n 1
}

version_of() {
  sed -n 's,^  <version>\(.*\)</version>.*,\1,p' "$1/pom.xml" | head -n 1
}

# Writes the new version wherever the old one is: in POMs, in the consumer, and in the pages that quote it.
set_version() {
  local dir=$1 old new=$2
  old=$(version_of "$dir")
  find "$dir" \( -name target -o -name .git \) -prune -o -type f \
    \( -name pom.xml -o -name build.gradle -o -name README.md -o -path '*/docs/guide/*.md' \) -print |
    while IFS= read -r file; do
      ! grep -qF "$old" "$file" || sed -i "s/${old//./\\.}/$new/g" "$file"
    done
}

# Compares or writes docs/api, with classes that Maven compiles now.
api() {
  local log module pairs=()
  log=$(mktemp)
  mvn -B -pl "$(published | paste -sd,)" -am compile >"$log" 2>&1 || {
    cat "$log"
    return 1
  }
  rm -f "$log"
  for module in $(published); do
    [ ! -d "$module/target/classes" ] || pairs+=("$(artifact_of "$module")=$module/target/classes")
  done
  "$JAVA_HOME/bin/java" tools/Api.java "${1:-check}" docs/api "${pairs[@]}"
}

# Runs a step, which may change its directory, quietly; shows its output only if it fails.
step() {
  local title=$1 start=$SECONDS
  shift
  if ! ("$@") >"$work/step.log" 2>&1; then
    tail -n 60 "$work/step.log"
    echo "$command: FAILED: $title" >&2
    return 1
  fi
  echo "$command: $title: ok ($((SECONDS - start)) s)"
}

skipped() {
  echo "release-check: $1: SKIPPED: $2"
}

# The sources of this checkout, changes included, in a directory of their own and with the version of a release.
copy_sources() {
  mkdir -p "$1"
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
  done | tar --null -T - -cf - | tar -xf - -C "$1"
  set_version "$1" "$version"
}

# Maven with the downloads of this machine, but with no artifact of Raddle that is not in the folder repository.
isolated_maven() {
  mvn -B -q "-Dmaven.repo.local=$work/m2" "$@"
}

local_repository() {
  local real entry
  # Some Mavens print colours even into a pipe.
  real=$(mvn -B -q -N help:evaluate -Dexpression=settings.localRepository -DforceStdout | sed $'s/\e\\[[0-9;]*m//g')
  mkdir -p "$work/m2/dev" "$real/dev"
  for entry in "$real"/*; do
    [ "${entry##*/}" = dev ] || ln -sfn "$entry" "$work/m2/${entry##*/}"
  done
  for entry in "$real"/dev/*; do
    [ ! -d "$entry" ] || [ "${entry##*/}" = raddle ] || ln -sfn "$entry" "$work/m2/dev/${entry##*/}"
  done
}

# A release without its properties, or of a SNAPSHOT, must end with a message that says what to do.
refuses() {
  local expected=$1
  shift
  ! (cd "$work/a" && isolated_maven -N validate "$@") >"$work/refusal.log" 2>&1 && grep -qF -- "$expected" "$work/refusal.log" ||
    { cat "$work/refusal.log" && echo "expected: $expected" && return 1; }
}

build_and_publish() {
  cd "$work/a" && isolated_maven -Partifacts deploy -pl ".,$modules" -am -Dmaven.test.skip -Draddle.format.skip \
    -Dmaven.install.skip "-DaltDeploymentRepository=check::file:$work/repository" "${sample[@]}"
}

# The second build is that of a release, up to the upload: it signs with a key that is thrown away, and makes the bundle.
# One module after the other, as in a release: the plugin makes the bundle after the module that is listed last, whether or not
# the others are ready. Even -T1 would build the BOM, which needs no other module, before most of them.
build_again() {
  cd "$work/another-directory/b" || return
  if [ -n "$gpg" ]; then
    GNUPGHOME=$gpg isolated_maven -b singlethreaded -Partifacts,release deploy -DskipUpload -pl ".,$modules" -am -Dmaven.test.skip \
      -Draddle.format.skip -Dmaven.install.skip "${sample[@]}"
  else
    isolated_maven -Partifacts verify -pl ".,$modules" -am -Dmaven.test.skip -Draddle.format.skip "${sample[@]}"
  fi
}

make_key() {
  mkdir -m 700 -p "$gpg"
  GNUPGHOME=$gpg gpg --batch --passphrase '' --quick-gen-key 'Example <raddle@example.org>' rsa2048 sign never
}

# The bundle has what was published to the folder, and a good signature of each file.
bundle_is_complete() {
  local bundle=$work/bundle file
  mkdir -p "$bundle"
  (cd "$bundle" && "$JAVA_HOME/bin/jar" -xf "$work"/another-directory/b/target/central-publishing/*.zip)
  (cd "$work/repository" && find . -type f \( -name '*.pom' -o -name '*.jar' -o -name '*cyclonedx*' \) ! -name '*.sha1' ! -name '*.md5') |
    sort >"$work/published"
  (cd "$bundle" && find . -name '*.asc' | sed 's/\.asc$//') | sort >"$work/signed"
  diff "$work/published" "$work/signed" || return
  while IFS= read -r file; do
    GNUPGHOME=$gpg gpg --batch --verify "$bundle/$file.asc" "$bundle/$file" || return
  done <"$work/signed"
}

artifacts_are_complete() {
  "$JAVA_HOME/bin/java" tools/ReleaseCheck.java "$work/repository" "$version" "$work/another-directory/b" ${modules//,/ }
}

api_is_unchanged() {
  local module artifact pairs=()
  for module in ${modules//,/ }; do
    artifact=$(artifact_of "$module")
    jar=$work/repository/dev/raddle/$artifact/$version/$artifact-$version.jar
    [ ! -e "$jar" ] || pairs+=("$artifact=$jar")
  done
  "$JAVA_HOME/bin/java" tools/Api.java check docs/api "${pairs[@]}"
}

consumer() {
  cd "$work/a/tools/consumer" && isolated_maven "-Dconsumer.repository=file:$work/repository" "$@"
}

build_consumer() {
  consumer package dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=target/lib
}

# The README promises that the java on the PATH may be older.
build_consumer_with_old_java() {
  (
    unset JAVA_HOME MAVEN_OPTS
    consumer clean package dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=target/lib
  )
}

from_class_path() {
  cd "$work/a/tools/consumer/class-path" &&
    "$JAVA_HOME/bin/java" -cp 'target/classes:target/lib/*' consumer.Main >"$work/out" && grep -x 'hello from the class path.*' "$work/out"
}

from_module_path() {
  cd "$work/a/tools/consumer/module-path" &&
    "$JAVA_HOME/bin/java" -p target/classes:target/lib -m consumer/consumer.Main >"$work/out" &&
    grep -x "dev.raddle@$version" "$work/out"
}

from_image() {
  cd "$work/a/tools/consumer/module-path" &&
    rm -rf target/image &&
    "$JAVA_HOME/bin/jlink" -p target/classes:target/lib --add-modules consumer --output target/image &&
    env -i target/image/bin/java -m consumer/consumer.Main >"$work/out" &&
    grep -x "dev.raddle@$version" "$work/out"
}

# All modules with all their dependencies resolve, and a descriptor requires what its classes use.
descriptors_match() {
  local lib=$work/a/tools/consumer/class-path/target/lib
  "$JAVA_HOME/bin/java" -p "$lib" --add-modules ALL-MODULE-PATH --validate-modules || return
  "$JAVA_HOME/bin/java" tools/Descriptors.java "$lib" "$lib"/raddle-*.jar
}

gradle_consumer() {
  cd "$work/a/tools/consumer" && gradle --no-daemon -q -g "$work/gradle" "-Pconsumer.repository=file:$work/repository" run >"$work/out" &&
    grep -x 'hello from the class path.*' "$work/out"
}

# The major version of a program that prints one.
major() {
  "$@" 2>&1 | sed -n 's/^[^0-9]*\([0-9][0-9]*\).*/\1/p' | head -n 1
}

compare_with() {
  cd "$work/a" && isolated_maven -Pcompare verify -pl ".,$modules" -am -Dmaven.test.skip -Draddle.format.skip "-Draddle.previous=$1"
}

release_check() {
  local version work modules gpg='' last
  version=$(version_of .)
  version=${version%-SNAPSHOT}
  work=$PWD/target/release
  modules=$(published | paste -sd,)
  rm -rf "$work"
  mkdir -p "$work"
  echo "release-check: version $version of: ${modules//,/ }"
  local_repository
  copy_sources "$work/a"
  copy_sources "$work/another-directory/b"

  step 'a release without its properties is refused' refuses '-Draddle.url=… is missing' -Partifacts,release
  step 'a release without sources and javadoc is refused' refuses 'use -Partifacts,release' -Prelease "${sample[@]}"
  step 'build and publish to a folder' build_and_publish
  if command -v gpg >/dev/null; then
    gpg=$work/gpg
    step 'a key for the check' make_key
  else
    skipped 'signatures' 'gpg is not installed'
  fi
  step 'build again in another directory' build_again
  [ -z "$gpg" ] || step 'the bundle for the upload, with signatures' bundle_is_complete
  step 'POMs, modules, sources, javadoc, component lists, reproducible' artifacts_are_complete
  step 'the exported API is that of docs/api' api_is_unchanged
  last=$(git tag --list 'v[0-9]*' --sort=-v:refname | head -n 1)
  if [ -n "$last" ]; then
    step "the API is compatible with $last" compare_with "${last#v}"
  else
    skipped 'comparison with the last release (japicmp)' 'there is no release yet, which would have a tag v…'
  fi

  step 'a project outside builds against the folder' build_consumer
  step 'class path' from_class_path
  step 'module path' from_module_path
  step 'jlink' from_image
  step 'module descriptors (jdeps --check)' descriptors_match
  if [ "$(major java -version)" -lt 25 ] 2>/dev/null; then
    step "a project outside builds with java $(major java -version) on the PATH" build_consumer_with_old_java
    step 'class path, after that build' from_class_path
  else
    skipped 'old java on the PATH' 'the java on the PATH is 25 or newer, or there is none'
  fi
  if ! command -v gradle >/dev/null; then
    skipped 'Gradle' 'no gradle on the PATH'
  elif [ "$(major gradle --version)" -lt 9 ]; then
    skipped 'Gradle' "Gradle $(major gradle --version) does not know Java 25; 9.1 does"
  else
    step 'Gradle' gradle_consumer
  fi
  echo "release-check: version $version can be released"
}

install_hosts_modules() {
  isolated_maven install -pl .,core,integrations/opentelemetry,integrations/spring-boot,bom -am \
    -Dmaven.test.skip -Draddle.format.skip -Draddle.coverage.minimum=0
}

build_hosts() {
  isolated_maven -f tools/hosts/pom.xml clean package
}

# Runs the program in one host, in the directory of the hosts. It ends with the number of places that are wrong.
host() {
  (cd tools/hosts && "$JAVA_HOME/bin/java" "$@")
}

in_executable_jar() {
  host -jar boot/target/hosts-boot-1.jar | tee "$work/out" && grep -qx 'hello from a span' "$work/out"
}

in_tomcat() {
  # Opened, so that Tomcat can search for the thread-locals of an application. Soft references are cleared at once.
  host -XX:SoftRefLRUPolicyMSPerMB=0 --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.rmi/sun.rmi.transport=ALL-UNNAMED \
    -cp "outside/target/classes:$(cd tools/hosts && printf '%s:' outside/target/lib/tomcat-*.jar)" \
    outside.Deployments "$PWD/tools/hosts/war/target/hosts-war-1.war" 30
}

under_agent() {
  local lib=tools/hosts/outside/target/lib
  export OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none
  mkdir -p "$lib/agent" && mv "$lib"/opentelemetry-javaagent-*.jar "$lib/agent/agent.jar" &&
    host -javaagent:outside/target/lib/agent/agent.jar -cp 'outside/target/classes:outside/target/lib/*' outside.Traced
}

in_shaded_jar() {
  host -cp program/target/hosts-program-1-shaded.jar program.Main &&
    host -cp program/target/hosts-program-1-relocated.jar program.Main
}

in_bundles() {
  host -cp 'outside/target/classes:outside/target/lib/*' outside.Bundles \
    "$(printf %s "$work"/m2/dev/raddle/raddle-core/*/raddle-core-*.jar)" "$work/bundles"
}

# With AOTMode=on a JVM that cannot use its cache ends.
with_aot_cache() {
  local jar=program/target/hosts-program-1-shaded.jar
  host -XX:AOTCacheOutput="$work/program.aot" -cp "$jar" program.Main &&
    host -XX:AOTMode=on -XX:AOTCache="$work/program.aot" -cp "$jar" program.Main
}

in_image() {
  local target=tools/hosts/program/target
  "$JAVA_HOME/bin/jlink" -p "$target/hosts-program-1.jar:$(printf %s "$work"/m2/dev/raddle/raddle-core/*/raddle-core-*.jar)" --add-modules program --output "$target/image" &&
    env -i "$target/image/bin/java" -m program/program.Main
}

# The modules of this checkout, installed as a user does who builds them, but not in the repository of this user.
hosts_check() {
  local work
  work=$PWD/target/hosts-check
  rm -rf "$work"
  mkdir -p "$work"
  local_repository
  step 'install the modules and the BOM in a repository that is thrown away' install_hosts_modules
  step 'build the program and its hosts, which import the BOM' build_hosts
  step 'an executable jar of Spring Boot with OpenTelemetry' in_executable_jar
  step '30 deployments of a WAR to one Tomcat' in_tomcat
  step 'the Java agent of OpenTelemetry' under_agent
  step 'a shaded jar, and one with other package names' in_shaded_jar
  step 'an image of jlink' in_image
  step 'an AOT cache' with_aot_cache
  step 'bundles of OSGi' in_bundles
}
