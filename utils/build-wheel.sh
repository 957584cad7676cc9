#!/usr/bin/env bash
# ===- build-wheel.sh - The Python package as one self-contained file ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes build/wheels/luminal-VERSION-py3-none-manylinux_*.whl: the package with the library, luminal-run, the C header and a
# file for CMake inside, which need no LLVM, and with the libraries that they need beside them. auditwheel gives it the tag of
# the oldest glibc that all symbols are in; the last lines name the symbols that hold it there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

utils/setup.sh
[ -x build/venv-wheel/bin/python ] || python3 -m venv build/venv-wheel
build/venv-wheel/bin/python -m pip install -q -r utils/requirements-wheel.txt
rm -rf build/wheels
PATH=$PWD/build/venv-wheel/bin:$PATH
python -m pip wheel -q --no-deps --no-build-isolation -w build/wheels/raw ./python
auditwheel -v repair -w build/wheels build/wheels/raw/luminal-*.whl 2>build/wheels/auditwheel.log >&2 ||
  { cat build/wheels/auditwheel.log >&2; exit 1; }
ls -l build/wheels/luminal-*.whl
python utils/dev/wheel_symbols.py build/wheels/luminal-*.whl
