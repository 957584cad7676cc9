#!/usr/bin/env bash
# ===- check.sh - Sets up, builds and runs every test -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Release build and all tests, those of the Python package and its wheel too; then those of the runtime under
# ThreadSanitizer, and the unit tests and those of the runtime, of Target (what is read and written) and of the e-graph under
# AddressSanitizer (leaks too) and UBSan. The end says the seconds of each stage; the last line is `N passed, N failed`, and
# the exit code is 1 where a test failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=$(nproc)
python=$PWD/build/venv/bin/python
stages=() # what the last lines say
stage='' began=0
step() { # NAME
  [ -z "$stage" ] || stages+=("$(printf '%5d s  %s' $((SECONDS - began)) "$stage")")
  stage=$1 began=$SECONDS
  echo "== $1 ($SECONDS s)"
}

limit=0 # seconds that a build may take: beyond them its exit code is 124
build() { # PRESET TARGET...
  mkdir -p "build/$1"
  cmake --preset "$1" -DLUMINAL_INCLUDE_TESTS=ON -DLUMINAL_TEST_PYTHON="$python" -DLUMINAL_TEST_JOBS="$jobs" >"build/$1/configure.log" 2>&1 ||
    { cat "build/$1/configure.log"; exit 1; }
  timeout "$limit" ninja -C "build/$1" -j "$jobs" --quiet "${@:2}"
}

results=()
run() { # PRESET FOLDER...
  local dir=build/$1 lit
  lit=$(sed -n 's/^LUMINAL_LIT:FILEPATH=//p' "$dir/CMakeCache.txt")
  rm -f "$dir/test-results.json"
  results+=("$dir/test-results.json")
  # A failure is not lost here: the summary reads it from the results, and misses them where lit wrote none.
  "$lit" -sv -j "$jobs" --output "$dir/test-results.json" "${@:2}" | tee "$dir/tests.log" || true
}

step "set-up"
utils/setup.sh --tests
step "release: build"
build release luminal-test-depends
built=$((SECONDS - began))
step "release: tests"
run release build/release/test
step "release: wheel"
utils/build-wheel.sh
step "release: Python"
rm -f build/release/python-results.xml
results+=(build/release/python-results.xml)
# pytest-xdist may wait for ever for a worker that crashed; without its file of results the summary counts a failure.
LUMINAL_WHEEL=$(echo build/wheels/luminal-*.whl) LUMINAL_LIBRARY=$PWD/build/release/lib/libluminal.so timeout 2700 "$python" -m pytest -q --tb=short -p no:cacheprovider \
  -n "$jobs" --dist=loadfile \
  --junitxml=build/release/python-results.xml python/tests || true
step "tsan: build"
build tsan LuminalRuntimeTests LuminalFakeCUDATests
step "tsan: tests"
run tsan build/tsan/test/unit
# A run that is cut off says nothing: on a slow machine, AddressSanitizer's tests end in time or are left out, which is said.
until=${LUMINAL_ASAN_UNTIL:-3600}
left_out="left out: AddressSanitizer, which ends by $until s (LUMINAL_ASAN_UNTIL)"
status=124
# Its build takes longer than the one of the release.
if ((SECONDS + built * 3 / 2 + 300 < until)); then
  step "asan: build"
  status=0
  limit=$((until - SECONDS)) build asan luminal-test-depends || status=$?
  ((status == 0 || status == 124)) || exit "$status"
fi
if ((status == 0)); then
  left_out=
  step "asan: tests"
  run asan --max-time=$((SECONDS < until ? until - SECONDS : 1)) build/asan/test/{unit,CAPI,Tools/luminal-run,Target,EqSat}
  skipped=$(sed -n 's/^ *Skipped *: *\([0-9]*\).*/\1/p' build/asan/tests.log)
  [ -z "$skipped" ] || left_out="left out: $skipped tests under AddressSanitizer, which end by $until s (LUMINAL_ASAN_UNTIL)"
else
  step "$left_out"
fi
step "done"
printf '%s\n' "${stages[@]}"
printf '%5d s  all\n' $SECONDS
echo "${left_out:-nothing was left out}"
"$python" utils/summarize-tests.py "${results[@]}"
