#!/usr/bin/env bash
# ===- check.sh - Sets up, builds and runs every test -------------------------===#
#
# Release build and all tests; with --asan then the tests of the runtime, of Target (what is read and written) and of
# the e-graph under AddressSanitizer and UBSan. The last line is `N passed, N failed`; the exit code is 1 where a test
# failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=$(nproc)
python=$PWD/build/venv/bin/python
step() { echo "== $1 ($SECONDS s)"; }

build() { # PRESET
  mkdir -p "build/$1"
  cmake --preset "$1" -DLUMINAL_INCLUDE_TESTS=ON -DLUMINAL_TEST_PYTHON="$python" -DLUMINAL_TEST_JOBS="$jobs" >"build/$1/configure.log" 2>&1 ||
    { cat "build/$1/configure.log"; exit 1; }
  ninja -C "build/$1" -j "$jobs" --quiet luminal-test-depends
}

results=()
run() { # PRESET FOLDER...
  local dir=build/$1 lit
  lit=$(sed -n 's/^LUMINAL_LIT:FILEPATH=//p' "$dir/CMakeCache.txt")
  rm -f "$dir/test-results.json"
  results+=("$dir/test-results.json")
  # A failure is not lost here: the summary reads it from the results, and misses them where lit wrote none.
  "$lit" -sv -j "$jobs" --output "$dir/test-results.json" "${@:2}" || true
}

step "set-up"
utils/setup.sh --tests
step "release: build"
build release
step "release: tests"
run release build/release/test
if [ "${1:-}" = --asan ]; then
  step "asan: build"
  build asan
  step "asan: tests"
  run asan build/asan/test/{Runtime,Target,EqSat,unit}
fi
step "done"
"$python" utils/summarize-tests.py "${results[@]}"
