#!/usr/bin/env bash
# ===- setup.sh - Installs what the build (and, with --tests, the tests) need -===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Debian 12 or newer: the packages below, only those that are missing, with apt-get (as root or through sudo).
# Elsewhere nothing is installed; the script says what it needs and goes on if the tools are there.
# --tests also makes build/venv, a Python environment with PyTorch, and adds ptxas where the machine has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(cmake ninja-build ccache pkg-config git clang-22 lld-22 liblld-22-dev llvm-22-dev llvm-22-tools libmlir-22-dev
  mlir-22-tools libzip-dev zlib1g-dev libzstd-dev nlohmann-json3-dev python3)
[ "${1:-}" = --tests ] && packages+=(clang-format-22 libclang-rt-22-dev libgtest-dev python3-venv coinor-cbc)

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  missing=()
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "setup: installing ${missing[*]}"
    as_root=()
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || { echo "setup: run as root, or install sudo" >&2; exit 2; }
      as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
  fi
else
  echo "setup: not a Debian system, so nothing is installed here. Needed: the development packages of LLVM, MLIR and"
  echo "setup: LLD 22.1, clang 22, CMake 3.25, Ninja, ccache, pkg-config, libzip, nlohmann_json, GoogleTest, Python 3.9."
  for tool in cmake ninja ccache pkg-config clang++-22 python3; do
    command -v "$tool" >/dev/null || { echo "setup: $tool is missing" >&2; exit 2; }
  done
fi

[ "${1:-}" = --tests ] || exit 0
# Packages that python3 already has are used as they are.
[ -x build/venv/bin/python ] || python3 -m venv --system-site-packages build/venv
requirements=(-r utils/requirements-test.txt -r utils/requirements-docs.txt)
command -v ptxas >/dev/null || requirements+=(-r utils/requirements-ptxas.txt)
build/venv/bin/python -m pip install -q "${requirements[@]}"
