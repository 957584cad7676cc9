#!/usr/bin/env bash
# ===- build-site.sh - The pages as a site, with the reference of ops and passes -===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: build-site.sh [FOLDER [REFERENCE [PYTHON]]]: writes FOLDER/html/index.html (build/site).
# REFERENCE is a folder of reference pages; without it `ninja luminal-doc` generates them from the .td files in build/release,
# which is configured where it is not (utils/setup.sh installs what that needs). PYTHON has utils/requirements-docs.txt; without
# it build/venv-site is made. A warning of Sphinx is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:-build/site} reference=${2:-} python=${3:-}

if [ -z "$python" ]; then
  python=build/venv-site/bin/python
  [ -x "$python" ] || python3 -m venv build/venv-site
  "$python" -m pip install -q -r utils/requirements-docs.txt
fi
if [ -z "$reference" ]; then
  [ -e build/release/build.ninja ] || cmake --preset release -DLUMINAL_INCLUDE_TESTS=OFF
  ninja -C build/release --quiet luminal-doc
  reference=build/release/docs
fi

# README.md is the first page and utils/README.md one of the others; links between them change accordingly.
pages=$folder/pages
rm -rf "$pages"
mkdir -p "$pages/reference"
cp docs/*.md docs/*.txt docs/*.png docs/*.svg docs/conf.py "$pages"
# Generated pages have no title of their own, or that of their dialect, which two of them share.
for page in "$reference"/*.md; do
  title=$(basename "$page" .md | sed -E 's/(Ops|Passes)$/ \L\1/; s/UserKernels$/ user kernels/')
  { echo "# $title"; sed -E '/^# .* Dialect$/d; /^\[TOC\]$/d' "$page"; } >"$pages/reference/$(basename "$page")"
done
cp utils/README.md "$pages/Scripts.md"
sed -i 's#](\.\./README\.md#](index.md#g; s#](\.\./utils/README\.md#](Scripts.md#g' "$pages"/*.md
sed 's#](docs/#](#g; s#](utils/README\.md#](Scripts.md#g' README.md >"$pages/index.md"
cat >>"$pages/index.md" <<'END'

```{toctree}
:hidden:
:caption: Using Luminal
Walk
Tutorial
Python
Ops
Models
Benchmarks
LanguageModels
UserKernels
Search
Questions
Glossary
```

```{toctree}
:hidden:
:caption: How it works
Architecture
HLIR
EqualitySaturation
LLIR
Fusion
Layouts
Kernels
Schedules
GPU
Machine
CodeGeneration
GPUProduct
Runtime
```

```{toctree}
:hidden:
:caption: Changing it
Contributing
AddPass
AddScheduleForm
AddInstruction
AddDevice
Testing
Scripts
```

```{toctree}
:hidden:
:caption: Reference
:glob:
reference/*
```
END
"$python" -m sphinx -q -W --keep-going -b html -d "$folder/doctrees" "$pages" "$folder/html"
echo "$folder/html/index.html"
