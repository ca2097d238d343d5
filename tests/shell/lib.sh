# SPDX-License-Identifier: LGPL-2.1-or-later
# Shared by the shell tests: a scratch folder, gst-launch-1.0 with our plug-ins, the oracle, and TAP output.
#
# A test sources this file, defines functions and calls `case_ NAME FUNCTION [ARGUMENT...]` for each; a function that
# returns 0 passes. Meson sets: ORACLE (path of simaai-oracle), DEMO (path of simaai-demo), SIMAAI_PRELOAD (sanitizer runtimes
# for programs that are not instrumented, may be empty) and GST_PLUGIN_PATH, the only thing that a user has to set.
set -u

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99

# A registry of our own: what is installed for other users of this machine stays as it is.
export GST_REGISTRY=$scratch/registry.bin
tensor=application/vnd.simaai.tensor
cases=0

oracle() { "$ORACLE" "$@" || { echo "# failed: simaai-oracle $*"; return 1; }; }
same() { oracle compare "$1" "$2" | sed 's/^/# /'; return "${PIPESTATUS[0]}"; }

# launch ARGUMENTS: gst-launch-1.0, with an end to waiting; its output becomes a diagnostic.
launch() {
  local status
  LD_PRELOAD=${SIMAAI_PRELOAD:-} timeout 120 gst-launch-1.0 -q "$@" >"$scratch/launch.log" 2>&1
  status=$?
  sed 's/^/# /' "$scratch/launch.log"
  [ "$status" = 0 ] || echo "# status $status: gst-launch-1.0 $*"
  return "$status"
}

# retry COMMAND...: again until it succeeds, for ten seconds: the other end may not listen yet.
retry() {
  local attempt
  for attempt in $(seq 1 100); do
    "$@" && return 0
    sleep 0.1
  done
  return 1
}

# case_ NAME FUNCTION [ARGUMENT...]: one TAP line. Each case starts in an empty folder.
case_() {
  local name=$1 folder
  shift
  cases=$((cases + 1))
  folder=$scratch/case$cases
  mkdir "$folder"
  # Not as a condition: bash ignores set -e there.
  (set -e; cd "$folder"; "$@")
  if [ $? = 0 ]; then
    echo "ok $cases - $name"
  else
    echo "not ok $cases - $name"
  fi
  rm -rf "$folder"
}

skip() {
  cases=$((cases + 1))
  echo "ok $cases - $1 # SKIP $2"
}

finish() { echo "1..$cases"; }
