#!/usr/bin/env bash
# ===- quickstart.sh - From a fresh machine to a compiled model ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what the build needs, builds, compiles the two archives that the repository ships, runs them at every size
# that is stored with them, and compares with PyTorch's stored outputs. Needs no PyTorch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

utils/setup.sh
cmake --preset release -DLUMINAL_INCLUDE_TESTS=OFF
cmake --build --preset release -j "$(nproc)" -t luminal-compile -t luminal-run
echo
echo "Error of the compiled model against float64, by PyTorch's own error; seconds to compile; milliseconds a call:"
exec python3 utils/testing/check_models.py --only compiled test/Models/Inputs/transformer test/Models/Inputs/dlrm
