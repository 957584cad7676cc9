#!/usr/bin/env bash
# ===- check-cuda.sh - Runs the tests of a device on the machine's GPU ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: utils/dev/check-cuda.sh [BUILD [TEST...]]
#
# What computes numbers on the CPU in `check-luminal` computes them on the GPU here: kernels of random programs with any
# schedule (utils/testing/random_kernels.py; LUMINAL_KERNELS=FIRST:LAST chooses programs, and a row is appended to
# utils/testing/gpu-kernels.jsonl, or LUMINAL_TABLE), every ATen op, the models, random programs, the runtime, the Python package and PyTorch's samples of its
# ops (python/tests/op_samples.py). BUILD is a build folder, or `build` of a bundle (utils/dev/gpu-bundle.sh).
# LUMINAL_TEST_JOBS tests run at a time (one a core). Fails where there is no GPU. The last line is `N passed, N failed`.
set -euo pipefail
build=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")/../../build}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
shift || true
tests=("$@")
if ((${#tests[@]} == 0)); then
  tests=(kernels unit Target/PT2/ops Models Integration Fuzz/programs.test Fuzz/regressions.test python op_db)
fi

python=python3
jobs=${LUMINAL_TEST_JOBS:-$(nproc)}
lit=(python3 "$build/lit/lit.py")
if [[ -d $build/lit ]]; then
  export LD_LIBRARY_PATH=$build/lib
else
  lit=("$(sed -n 's/^LUMINAL_LIT:FILEPATH=//p' "$build/CMakeCache.txt")")
  python=$(sed -n 's/^LUMINAL_TEST_PYTHON:FILEPATH=//p' "$build/CMakeCache.txt")
fi
results=()
run_lit() { # NAME ARGUMENT...: keeps the results, failures among them, for the count.
  results+=("$build/cuda-$1.json")
  rm -f "${results[-1]}"
  "${lit[@]}" -sv -j "$jobs" --time-tests -Ddevice=cuda --output "${results[-1]}" "${@:2}" || true
}

paths=()
for test in "${tests[@]}"; do
  case $test in
  kernels)
    results+=("$build/cuda-kernels.json")
    rm -f "${results[-1]}"
    # Of programs that were chosen there need not be every form.
    least=()
    [[ -n ${LUMINAL_KERNELS:-} ]] || least=(--at-least 5000,200)
    "$python" utils/testing/random_kernels.py "$build" --jobs "$jobs" --programs "${LUMINAL_KERNELS:-0:1000}" "${least[@]}" \
      --table "${LUMINAL_TABLE:-utils/testing/gpu-kernels.jsonl}" --results "${results[-1]}" || true
    ;;
  unit) run_lit unit --filter='CUDATests|RandomProgramsTests' "$build/test/unit" ;;
  python)
    results+=("$build/cuda-python.xml")
    rm -f "${results[-1]}"
    # Of the files that have tests for a GPU, those: of captures all, of others the forms that are named for it.
    mapfile -t files < <(grep -l '"cuda"' python/tests/test_*.py)
    LUMINAL_LIBRARY=$build/lib/libluminal.so "$python" -m pytest -q --tb=short -p no:cacheprovider -k "cuda or capture" \
      --junitxml="${results[-1]}" "${files[@]}" || true
    ;;
  op_db)
    results+=("$build/cuda-op-db.json")
    rm -f "${results[-1]}"
    LUMINAL_LIBRARY=$build/lib/libluminal.so PYTHONPATH=$PWD/python "$python" python/tests/op_samples.py --device=cuda --jobs "$jobs" \
      --results "${results[-1]}" || true
    ;;
  *) paths+=("$build/test/$test") ;;
  esac
done
((${#paths[@]} == 0)) || run_lit lit "${paths[@]}"
"$python" utils/dev/summarize_tests.py "${results[@]}"
