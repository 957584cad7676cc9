#!/usr/bin/env python3
# ===- determinism.py - The same program and report, many times ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""determinism.py PROGRAM OUT [LIBRARY]: saturates the program twenty times under changing layouts of memory, or, where a
library is named (other-library.c), with that one preloaded in all runs but the first."""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

program, out = sys.argv[1], pathlib.Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)
# Freed memory is overwritten; all memory is mapped, or none; large pages; no cache of small blocks; tiny arenas.
LAYOUTS = [
    {},
    {"MALLOC_PERTURB_": "85"},
    {"MALLOC_PERTURB_": "170", "MALLOC_MMAP_THRESHOLD_": "4096"},
    {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.tcache_count=0"},
    {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=65536"},
    {"MALLOC_ARENA_MAX": "1", "FIXED": "1"},
]
RUNS = [LAYOUTS[i % len(LAYOUTS)] for i in range(20)]
if len(sys.argv) > 3:
    RUNS = [{}] + [{"LD_PRELOAD": sys.argv[3], "LAYOUT": str(i)} for i in range(8)]


def fix_addresses():
    """Places everything where it always is, where the machine allows that (ADDR_NO_RANDOMIZE)."""
    ctypes.CDLL(None).personality(0x0040000)


seen = set()
for i, layout in enumerate(RUNS):
    files = {what: out / f"{i}.{what}" for what in ("report", "egraph", "explain")}
    options = " ".join(f"{what}={path}" for what, path in files.items())
    # File names do not matter; nor does the size of the environment, which moves the stack.
    done = subprocess.run(["luminal-opt", program, f"--eqsat-saturate={options}"], capture_output=True, text=True,
                          env={**os.environ, **layout, "PADDING": "x" * (i * 977)},
                          preexec_fn=fix_addresses if "FIXED" in layout else None)
    if done.returncode:
        sys.exit(f"run {i}: exit {done.returncode}\n{done.stderr[:2000]}")
    # "idle" compares times.
    text, times = re.subn(r'("(?:total|match|apply|rebuild|extract|match_milliseconds|apply_milliseconds|idle)": )[^,\n]+',
                          r"\1_", files["report"].read_text())
    assert times > 50 and '"useful": 0' in text and '"explanation": {' in text
    graph, proofs = files["egraph"].read_text(), files["explain"].read_text()
    assert len(graph) > 10000 and len(proofs) > 1000
    seen.add((done.stdout, text, graph, proofs))
if len(seen) != 1:
    sys.exit(f"{len(seen)} different results of {len(RUNS)} runs")
program_out = next(iter(seen))[0]
assert program_out != pathlib.Path(program).read_text() and "llir." in program_out
