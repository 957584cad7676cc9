#!/usr/bin/env bash
# ===- check.sh - Sets up, builds and runs every test -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Release build and all tests, those of the Python package and its wheel too; then those of the runtime under
# ThreadSanitizer, and the unit tests and those of the runtime, of Target (what is read and written) and of the e-graph under
# AddressSanitizer (leaks too) and UBSan.
#
# All of it ends by LUMINAL_CHECK_LIMIT seconds (4500), since a run that is cut off says nothing. Where time is short,
# AddressSanitizer is left out first, then ThreadSanitizer; release tests that were not run by then are failures. The end says
# the seconds of each stage, those of its processes, and what was left out; the last line is `N passed, N failed`, and the exit
# code is 1 where a test failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=$(nproc)
python=$PWD/build/venv/bin/python
limit=${LUMINAL_CHECK_LIMIT:-4500}
until=$limit # when what runs has to end
left() { echo $((SECONDS < until ? until - SECONDS : 1)); }

stages=() # what the last lines say
left_out=() failures=()
stage='' began=0 used=0
ticks=$(getconf CLK_TCK)
cpu() { # The seconds of all processes that have ended.
  local stat
  read -ra stat </proc/$$/stat
  echo $(((stat[15] + stat[16]) / ticks))
}
step() { # NAME
  local now
  now=$(cpu)
  [ -z "$stage" ] || stages+=("$(printf '%5d s, %5d s of processors  %s' $((SECONDS - began)) $((now - used)) "$stage")")
  stage=$1 began=$SECONDS used=$now
  echo "== $1 ($SECONDS s)"
}
leave_out() { # WHAT
  left_out+=("LEFT OUT: $1, for all has to end by $limit s (LUMINAL_CHECK_LIMIT)")
  echo "${left_out[-1]}"
}

build() { # PRESET TARGET...; the exit code is 124 where the time is over
  mkdir -p "build/$1"
  cmake --preset "$1" -DLUMINAL_INCLUDE_TESTS=ON -DLUMINAL_TEST_PYTHON="$python" -DLUMINAL_TEST_JOBS="$jobs" >"build/$1/configure.log" 2>&1 ||
    { cat "build/$1/configure.log"; exit 1; }
  timeout "$(left)" ninja -C "build/$1" -j "$jobs" --quiet "${@:2}"
}

# Scripts of tests that import PyTorch run in children of one process that has.
server='' folder=$(mktemp -d)
trap 'stop_server; rm -rf "$folder"' EXIT
export LUMINAL_TORCH_SERVER=$folder/socket
start_server() {
  "$python" test/Inputs/torch-server.py serve "$LUMINAL_TORCH_SERVER" &
  server=$!
}
stop_server() {
  [ -n "$server" ] || return 0
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  rm -f "$LUMINAL_TORCH_SERVER"
  server=''
}

results=()
unrun=0 # tests that the last run had no time for
run() { # PRESET FOLDER...
  local dir=build/$1 lit
  lit=$(sed -n 's/^LUMINAL_LIT:FILEPATH=//p' "$dir/CMakeCache.txt")
  rm -f "$dir/test-results.json"
  results+=("$dir/test-results.json")
  [ "$1" = tsan ] || start_server
  # A failure is not lost here: the summary reads it from the results, and misses them where lit wrote none.
  "$lit" -sv -j "$jobs" --max-time="$(left)" --output "$dir/test-results.json" "${@:2}" 2>&1 | tee "$dir/tests.log" || true
  stop_server
  unrun=0
  ! grep -q 'reached timeout' "$dir/tests.log" || unrun=$(sed -n 's/^ *Skipped *: *\([0-9]*\).*/\1/p' "$dir/tests.log")
}

# Builds and tests under a sanitizer if SECONDS, which building takes at least, are left.
sanitized() { # NAME PRESET SECONDS TARGETS FOLDER...
  local name=$1 preset=$2 status=0
  ((SECONDS + $3 + 60 < limit)) || { leave_out "$name"; return 0; }
  step "$preset: build"
  read -ra targets <<<"$4"
  build "$preset" "${targets[@]}" || status=$?
  ((status != 124)) || { leave_out "$name"; return 0; }
  ((status == 0)) || exit "$status"
  step "$preset: tests"
  run "$preset" "${@:5}"
  ((unrun == 0)) || leave_out "$unrun tests under $name"
}

step "set-up"
utils/setup.sh --tests
step "release: build"
build release luminal-test-depends
built=$((SECONDS - began))
step "release: tests"
until=$((limit - 1000)) # which the wheel and Python may need
run release build/release/test
((unrun == 0)) || failures+=("--failure=release: no time for $unrun tests, which have to end by $until s")
until=$limit
step "release: wheel"
utils/build-wheel.sh
step "release: Python"
rm -f build/release/python-results.xml
results+=(build/release/python-results.xml)
# pytest-xdist may wait for ever for a worker that crashed; without its file of results the summary counts a failure.
LUMINAL_WHEEL=$(echo build/wheels/luminal-*.whl) LUMINAL_LIBRARY=$PWD/build/release/lib/libluminal.so timeout "$(left)" "$python" -m pytest -q --tb=short -p no:cacheprovider \
  -n "$jobs" --dist=loadfile \
  --junitxml=build/release/python-results.xml python/tests || true
# Beside the release's build: a quarter of its sources; all of them and the fuzzers, which take longer.
sanitized ThreadSanitizer tsan $((built / 4)) "LuminalRuntimeTests LuminalFakeCUDATests" build/tsan/test/unit
# What the tests of EqSat/Rules ask of programs is text; LuminalEqSatRulesTests takes the same programs.
sanitized AddressSanitizer asan $((built * 5 / 4)) luminal-test-depends \
  build/asan/test/{unit,CAPI,Tools/luminal-run,Target,EqSat/{Core,Patterns,Program,fuzz.test}}
step "done"
printf '%s\n' "${stages[@]}"
printf '%5d s, %5d s of processors  all\n' $SECONDS "$(cpu)"
printf '%s\n' "${left_out[@]:-nothing was left out}"
"$python" utils/dev/summarize_tests.py "${failures[@]}" "${results[@]}"
