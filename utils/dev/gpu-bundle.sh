#!/usr/bin/env bash
# ===- gpu-bundle.sh - One file with all that a bare GPU machine needs ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: utils/dev/gpu-bundle.sh [FILE]   (build/luminal-gpu.tar.xz)
#
# The tools and the C interface without LLVM beside them (luminal-bundle), lit, FileCheck, the tests of a device, the
# benchmarks and the Python package. On a machine with a driver, Python and PyTorch:
#
#   tar xf luminal-gpu.tar.xz && cd luminal-gpu && utils/dev/check-cuda.sh
#
# It needs the tests' environment (utils/setup.sh --tests), and fails where the file is larger than 45 MiB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
file=${1:-build/luminal-gpu.tar.xz}
llvm=/usr/lib/llvm-22
most=$((45 << 20))

mkdir -p build/static
# A second configuration by the preset would name the compiler again, for which CMake forgets all options.
[[ -e build/static/build.ninja ]] ||
  cmake --preset release -B build/static -DLUMINAL_STATIC_LLVM=ON -DLUMINAL_INCLUDE_TESTS=ON >build/static/configure.log ||
  { cat build/static/configure.log; exit 1; }
ninja -C build/static --quiet luminal-bundle LuminalCUDATests
# Models of the transformers library; the tests export all others.
build/venv/bin/python utils/testing/export_models.py build/static/models wav2vec2 llama llama_dynamic llama_8_layers llama_grad qwen3 \
  gpt2 bert vit qwen3_bf16 bert_f16 llava paligemma >/dev/null

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/luminal-gpu
build=$root/build
mkdir -p "$build/lib" "$build/test/unit" "$build/lit"
git ls-files -z --cached --others --exclude-standard docs python test utils README.md LICENSE |
  xargs -0 cp --parents -t "$root"
# PyTorch's samples of its ops import this, which is not on any machine.
cp -r "$(build/venv/bin/python -c 'import expecttest, os; print(os.path.dirname(expecttest.__file__))')" "$root/python"
printf '%s%s\n' "$(git rev-parse --short=12 HEAD)" "$(git diff --quiet HEAD || echo +)" >"$root/COMMIT"
cp -r build/static/bundle/bin "$build"
cp build/static/bundle/lib/*.so "$build/lib"
ln -s ../../bin/LuminalRandomProgramsTests "$build/test/unit"
cp build/static/test/unit/LuminalCUDATests "$build/test/unit"

cp -r build/static/models "$build"
for mark in "$build"/models/*/done; do
  printf kept >"$mark"
done

# Compression libraries and OpenSSL are on any machine; libzip is not. LLVM's small tools name Z3 and use nothing of it.
cp -L "$(ldconfig -p | sed -n 's/.*libzip\.so\.[45] .*x86-64.* => //p' | head -1)" "$build/lib"
cp "$llvm"/bin/{FileCheck,not,count,split-file} "$build/bin"
cc -shared -o "$build/lib/libz3.so.4" -Wl,-soname,libz3.so.4 -x c /dev/null
cp -rL "$(sed -n 's/^sys.path.insert(1,"\(.*\)")/\1/p' "$llvm/bin/lit")/lit" "$build/lit"
printf '%s\n' 'from lit.main import main' 'main()' >"$build/lit/lit.py"

site() { # FILE CONFIG SETTING...
  printf '%s\n' 'import os, sys' "root = os.path.abspath(__file__).split('/build/test/')[0]" \
    'config.luminal_src_root = root' 'config.luminal_obj_root = root + "/build"' "${@:3}" \
    "lit_config.load_config(config, root + '/test/$2')" >"$1"
}
site "$build/test/lit.site.cfg.py" lit.cfg.py 'config.llvm_tools_dir = root + "/build/bin"' 'config.host_arch = "x86_64"' \
  'config.host_os = "Linux"' 'config.llvm_targets = ["X86", "NVPTX"]' 'config.assertions = False' \
  'config.build_type = "Release"' 'config.sanitizers = []' 'config.python = sys.executable' \
  'config.cxx_compiler = config.c_compiler = config.cmake = config.mlir_dir = config.lld_dir = "absent"'
site "$build/test/unit/lit.site.cfg.py" unit/lit.cfg.py

tar -C "$stage" --sort=name --owner=0 --group=0 --mtime=@0 -cf - luminal-gpu | xz -T2 -6 >"$file"
bytes=$(stat -c %s "$file")
echo "$file: $((bytes >> 20)) MiB"
if ((bytes > most)); then
  echo "gpu-bundle.sh: error: that is more than $((most >> 20)) MiB" >&2
  exit 1
fi
